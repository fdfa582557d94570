// A consumer as a process of its own. It says on its standard output what it is given, does and is told: see Saying.
// First, so that nobody has looked at the clock yet.
import { machineTime, stepClock } from "../../../support/process-clock.js";
import { writeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { binaryCodec } from "../../../../src/codec.js";
import type { Delivery } from "../../../../src/consumer/delivery.js";
import { redisEngine } from "../../../../src/engines/redis/engine.js";
import { PunctualError } from "../../../../src/errors.js";
import { Queue } from "../../../../src/queue.js";
import { chaosMessage, digestOf, lease, limits, numberOf } from "../../../chaos/chaos-message.js";
import type { CrewOptions } from "../crew.js";
import { engineOptions } from "../reach.js";
import { type Ending, isProbe, type Order, type Said } from "../saying.js";

const { reach, queue, seed, messages, concurrency } = JSON.parse(process.argv[2] ?? "") as CrewOptions;
/** How often health is looked at, ms. */
const healthEvery = 20;

const engine = redisEngine({ ...engineOptions(reach), onWarning: () => {} });
/** What was released here. */
const released = new Set<string>();
const held = new Set<() => void>();

const consumer = new Queue<Uint8Array>(queue, { engine, codec: binaryCodec() })
  .consume(handle, { concurrency, lease, retry: { attempts: limits.others, backoff: (attempt) => 40 * attempt } })
  .on("acknowledged", (message) => ended(message, "acknowledged"))
  .on("retried", (message) => ended(message, "retried"))
  // One that a claim buried has no attempt here; Redis is asked about it in the end.
  .on("buried", (message) => "attempt" in message && ended(message as Delivery<Uint8Array>, "buried"))
  .on("leaseLost", ({ id, attempt }, { code }) => say({ kind: "lost", id, attempt, code }))
  .on("error", (error, message) => {
    // What was delivered again meanwhile may have been done since, here too.
    const attempt = message !== undefined && "attempt" in message ? { attempt: Number(message.attempt) } : {};
    say({ kind: "failed", id: message?.id ?? "", ...attempt, code: codeOf(error) });
  });

let lastState = "";
const healthTimer = setInterval(() => {
  const { state } = consumer.health();
  if (state !== lastState) say({ kind: "health", state });
  lastState = state;
}, healthEvery);

process.on("disconnect", () => process.exit());
process.on("message", (order: Order) => {
  if (order === "close") void close();
  else if (order === "let go") letGo();
  else if ("block" in order) block(order.block);
  else stepClock(order.stepClock);
});

async function handle(message: Delivery<Uint8Array>): Promise<void> {
  const { id, attempt, payload } = message;
  say({ kind: "started", id, attempt, dueAt: message.dueAt.getTime(), digest: digestOf(payload) });
  const ending = (how: Ending) => say({ kind: "ending", id, attempt, how });
  if (isProbe(id)) {
    await new Promise<void>((resolve) => held.add(resolve));
    return ending("acknowledged");
  }
  const number = numberOf(id, messages);
  const { act, takes } = number === undefined ? { act: "succeed", takes: 0 } : chaosMessage(seed, number);
  if (takes > 0) await sleep(takes);
  if (act === "fail-always" || (act === "fail-once" && attempt === 1)) {
    ending("retried");
    throw new Error("as planned");
  }
  if (act === "release-once" && !released.has(id)) {
    released.add(id);
    ending("released");
    await message.release();
    return ended(message, "released");
  }
  if (act === "bury") {
    ending("buried");
    return await message.bury("as planned");
  }
  ending("acknowledged");
}

function ended({ id, attempt }: Delivery<Uint8Array>, how: Ending): void {
  say({ kind: "ended", id, attempt, how });
}

function letGo(): void {
  for (const release of held) release();
  held.clear();
}

function block(ms: number): void {
  for (const until = performance.now() + ms; performance.now() < until;);
  say({ kind: "unblocked" });
}

function say(said: Said): void {
  writeSync(1, `${JSON.stringify({ ...said, at: machineTime() })}\n`);
}

function codeOf(error: unknown): string {
  return error instanceof PunctualError ? error.code : String(error);
}

async function close(): Promise<void> {
  letGo();
  await consumer.close();
  clearInterval(healthTimer);
  await engine.close();
  process.disconnect();
}
