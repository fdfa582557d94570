import type { ClaimResult, Engine, EngineQueue, Watcher } from "../../engine.js";

/** What stands between a consumer and its engine, to count calls, hold them up or have them fail. */
export interface Interposition {
  /** Runs a call, or does something else. */
  readonly around: <Answer>(operation: keyof EngineQueue, call: () => Promise<Answer>) => Promise<Answer>;
  /** What a watch tells, on its way to the consumer. Default: passed on. */
  readonly telling?: ((watcher: Watcher) => Watcher) | undefined;
}

/** An engine whose every call goes through `between`. Closing it closes nothing: `engine` belongs to somebody else. */
export function interposed(engine: Engine, between: Interposition): Engine {
  return {
    name: engine.name,
    open: (queue, options) => interposedQueue(engine.open(queue, options), between),
    async close() {},
    async [Symbol.asyncDispose]() {},
  };
}

function interposedQueue(queue: EngineQueue, { around, telling = (watcher) => watcher }: Interposition): EngineQueue {
  return {
    clock: queue.clock,
    get closed() {
      return queue.closed;
    },
    schedule: (messages, options) => around("schedule", () => queue.schedule(messages, options)),
    claim: (request) => around("claim", () => queue.claim(request)),
    acknowledge: (receipts) => around("acknowledge", () => queue.acknowledge(receipts)),
    retry: (retries) => around("retry", () => queue.retry(retries)),
    release: (releases) => around("release", () => queue.release(releases)),
    bury: (burials) => around("bury", () => queue.bury(burials)),
    extend: (receipts, lease) => around("extend", () => queue.extend(receipts, lease)),
    cancel: (ids) => around("cancel", () => queue.cancel(ids)),
    reschedule: (changes) => around("reschedule", () => queue.reschedule(changes)),
    get: (ids) => around("get", () => queue.get(ids)),
    counts: () => around("counts", () => queue.counts()),
    list: (query) => around("list", () => queue.list(query)),
    revive: (ids, due) => around("revive", () => queue.revive(ids, due)),
    remove: (ids) => around("remove", () => queue.remove(ids)),
    purge: (what) => around("purge", () => queue.purge(what)),
    audit: () => around("audit", () => queue.audit()),
    repair: () => around("repair", () => queue.repair()),
    pause: () => around("pause", () => queue.pause()),
    resume: () => around("resume", () => queue.resume()),
    watch: (consumer, watcher) => around("watch", () => queue.watch(consumer, telling(watcher))),
  };
}

/** Whether a call that goes through an interposed engine was a claim that took something. */
export function tookSomething(operation: keyof EngineQueue, answer: unknown): boolean {
  return operation === "claim" && (answer as ClaimResult).messages.length > 0;
}

/** An engine that counts the calls made through it. */
export function counting(engine: Engine): { engine: Engine; calls: Map<keyof EngineQueue, number> } {
  const calls = new Map<keyof EngineQueue, number>();
  const between: Interposition = {
    around(operation, call) {
      calls.set(operation, (calls.get(operation) ?? 0) + 1);
      return call();
    },
  };
  return { engine: interposed(engine, between), calls };
}

/** An engine as a process has it that is stopped at once: from then on nothing it does arrives, and it hears nothing. */
export function stoppable(engine: Engine): { engine: Engine; stop(): void } {
  let stopped = false;
  const never = new Promise<never>(() => {});
  const between: Interposition = {
    async around(_, call) {
      if (stopped) return never;
      const answer = await call();
      return stopped ? never : answer;
    },
    telling: (watcher) => ({
      wake: (at) => stopped || watcher.wake(at),
      postpone: (at) => stopped || watcher.postpone(at),
      interrupted: (cause) => stopped || watcher.interrupted(cause),
      recovered: () => stopped || watcher.recovered(),
    }),
  };
  return { engine: interposed(engine, between), stop: () => (stopped = true) };
}
