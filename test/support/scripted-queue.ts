import type { Clock } from "../../src/clock.js";
import type { ClaimResult, EngineQueue } from "../../src/engine.js";
import { PunctualError } from "../../src/errors.js";

/** An engine's queue of which a unit test gives only the operations that it needs; the others are refused. */
export function scriptedQueue(clock: Clock, operations: Partial<EngineQueue>): EngineQueue {
  const refuse = (): Promise<never> =>
    Promise.reject(new PunctualError("unsupported", "This test has no such operation."));
  return {
    clock,
    closed: false,
    schedule: refuse,
    claim: refuse,
    acknowledge: refuse,
    retry: refuse,
    release: refuse,
    bury: refuse,
    extend: refuse,
    cancel: refuse,
    reschedule: refuse,
    get: refuse,
    counts: refuse,
    list: refuse,
    revive: refuse,
    remove: refuse,
    purge: refuse,
    audit: refuse,
    repair: refuse,
    pause: refuse,
    resume: refuse,
    watch: refuse,
    ...operations,
  };
}

/** What a claim answers at `now` that brought so many messages. */
export function claimResult(count: number, { now, nextAt }: Pick<ClaimResult, "now" | "nextAt">): ClaimResult {
  const messages = Array.from({ length: count }, (_, index) => ({
    id: `${index}`,
    payload: new Uint8Array(),
    dueAt: 0,
    attempt: 1,
    attempts: 5,
  }));
  return { messages, leaseUntil: now + 30_000, now, nextAt, buried: [], missing: [] };
}

/** A promise and the means to end it, for calls whose reply a test decides. */
export class Reply<Value> {
  readonly promise: Promise<Value>;
  give!: (value: Value) => void;
  fail!: (error: unknown) => void;

  constructor() {
    this.promise = new Promise((resolve, reject) => {
      this.give = resolve;
      this.fail = reject;
    });
  }
}
