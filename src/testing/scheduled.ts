import { AssertionError } from "node:assert";
import { inspect, isDeepStrictEqual } from "node:util";
import type { MessageState } from "../engine.js";
import type { Message } from "../message.js";
import type { Queue } from "../queue.js";

/** A message that waits to be delivered. */
export interface ScheduledMessage<Payload> {
  readonly id: string;
  readonly payload: Payload;
  readonly dueAt: Date;
}

/** What a message is expected to be like. What is left out may be anything. */
export interface ExpectedMessage {
  id?: string | undefined;
  /** Of an object, the properties that matter; of anything else, and inside of arrays, all. */
  payload?: unknown;
  /** A `Date` or Unix ms. */
  dueAt?: Date | number | undefined;
}

/** What is not shown of a long list, so that an error stays readable. */
const mostShown = 20;

/** All messages that wait to be delivered, those that are due already included, in the order of their due times. */
export async function scheduled<Payload>(queue: Queue<Payload>): Promise<ScheduledMessage<Payload>[]> {
  // First what is not due yet: what comes due meanwhile is then seen twice at worst, and not missed.
  const later = await all(queue, "scheduled");
  const found = new Map((await all(queue, "due")).map((message) => [message.id, message]));
  for (const message of later) found.set(message.id, message);
  return Array.from(found.values(), ({ id, payload, dueAt }) => ({ id, payload, dueAt }));
}

/**
 * Resolves to the messages that wait and are as expected; fails with an `AssertionError` that lists what is there when
 * there is none.
 */
export async function assertScheduled<Payload>(
  queue: Queue<Payload>,
  expected: ExpectedMessage,
): Promise<ScheduledMessage<Payload>[]> {
  const there = await scheduled(queue);
  const found = there.filter((message) => isLike(message, expected));
  if (found.length > 0) return found;
  throw failure(`No message that waits in ${JSON.stringify(queue.name)} is like`, expected, there, assertScheduled);
}

/** Fails with an `AssertionError` that lists what is there when a message waits that is as described. */
export async function assertNotScheduled<Payload>(queue: Queue<Payload>, unwanted: ExpectedMessage): Promise<void> {
  const there = await scheduled(queue);
  if (!there.some((message) => isLike(message, unwanted))) return;
  throw failure(`A message that waits in ${JSON.stringify(queue.name)} is like`, unwanted, there, assertNotScheduled);
}

async function all<Payload>(queue: Queue<Payload>, state: MessageState): Promise<Message<Payload>[]> {
  const messages: Message<Payload>[] = [];
  let cursor: string | undefined;
  do {
    const page = await queue.list({ state, limit: 1_000, cursor });
    messages.push(...page.messages);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return messages;
}

function isLike(message: ScheduledMessage<unknown>, expected: ExpectedMessage): boolean {
  const { id, payload, dueAt } = expected;
  if (id !== undefined && id !== message.id) return false;
  if (dueAt !== undefined && Number(dueAt) !== message.dueAt.getTime()) return false;
  return payload === undefined || matches(message.payload, payload);
}

/** Whether an object has the expected properties; anything else is compared as a whole. */
function matches(actual: unknown, expected: unknown): boolean {
  if (!isPlain(expected) || !isPlain(actual)) return isDeepStrictEqual(actual, expected);
  return Object.entries(expected).every(([name, value]) => name in actual && matches(actual[name], value));
}

/** An object literal, of this or another realm: no array, date, map or bytes. */
function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function failure(
  sentence: string,
  expected: ExpectedMessage,
  there: readonly ScheduledMessage<unknown>[],
  stackStartFn: (...args: never[]) => unknown,
): AssertionError {
  const lines = there
    .slice(0, mostShown)
    .map(({ id, dueAt, payload }) => `  ${id}  due ${dueAt.toISOString()}  ${show(payload)}`);
  if (there.length > mostShown) lines.push(`  … and ${there.length - mostShown} more`);
  const list = there.length === 0 ? "Nothing waits there." : `What waits there:\n${lines.join("\n")}`;
  return new AssertionError({
    message: `${sentence} ${show(expected)}. ${list}`,
    actual: there,
    expected,
    operator: "scheduled",
    stackStartFn,
  });
}

function show(value: unknown): string {
  return inspect(value, { depth: 4, breakLength: Number.POSITIVE_INFINITY });
}
