import { describe, expect, it } from "vitest";
import type { ClaimRequest, Engine, EngineQueue, NewMessage, Receipt, Watcher } from "../../src/engine.js";
import { PunctualError } from "../../src/errors.js";
import { Queue } from "../../src/queue.js";
import { read } from "../source-files.js";
import { withRabbitmq } from "../support/rabbitmq-of-file.js";
import { withRedis } from "../support/with-redis.js";

const redis = withRedis();
const rabbitmq = withRabbitmq();

/** Options with which an engine is another one. */
const variants: Readonly<Record<string, readonly object[]>> = {
  redis: [{ partitions: 2 }],
  "zset-list": [{ reliable: true }],
  "zset-stream": [{ group: "other" }],
};

const { exports } = JSON.parse(read("package.json")) as { exports: Record<string, unknown> };
const names = Object.keys(exports).flatMap((subpath) => /^\.\/engines\/(.+)$/u.exec(subpath)?.[1] ?? []);
const subjects = names.flatMap((name) => [{}, ...(variants[name] ?? [])].map((options) => [name, options] as const));

const receipt: Receipt = { id: "a", token: "t", leaseUntil: 0 };
const due = { delay: 0 };
const message: NewMessage = { id: "a", payload: new Uint8Array(1), due, onDuplicate: "keep" };
const request: ClaimRequest = { limit: 1, lease: 1_000, consumer: "c", token: "t", attempts: 5 };
const watcher: Watcher = { wake() {}, postpone() {}, interrupted() {}, recovered() {} };

type Operations<Target, But extends keyof Target> = Readonly<
  Record<Exclude<keyof Target, But>, readonly ((target: Target) => unknown)[]>
>;

/** Every operation of the contract, in all the ways in which an engine may be unable to do it. One left out does not compile. */
const operations: Operations<EngineQueue, "clock" | "closed" | "partitions" | "sent"> = {
  schedule: [
    (queue) => queue.schedule([message]),
    (queue) => queue.schedule([{ ...message, onDuplicate: "replace" }]),
    (queue) => queue.schedule([{ ...message, due: { at: 8.64e15 } }]),
    (queue) => queue.schedule([{ ...message, attempts: 1, expiresIn: 1_000, headers: { a: "b" } }]),
  ],
  claim: [(queue) => queue.claim(request), (queue) => queue.claim({ ...request, limit: 0, returns: false })],
  acknowledge: [(queue) => queue.acknowledge([receipt])],
  retry: [(queue) => queue.retry([{ ...receipt, delay: 0 }])],
  release: [(queue) => queue.release([receipt]), (queue) => queue.release([{ ...receipt, delay: 1_000 }])],
  bury: [(queue) => queue.bury([{ ...receipt, reason: "because" }])],
  extend: [(queue) => queue.extend([receipt], 1_000)],
  cancel: [(queue) => queue.cancel(["a"])],
  reschedule: [(queue) => queue.reschedule([{ id: "a", due }])],
  get: [(queue) => queue.get(["a"])],
  counts: [(queue) => queue.counts()],
  list: (["scheduled", "due", "leased", "dead"] as const).map(
    (state) => (queue: EngineQueue) => queue.list({ state, limit: 1 }),
  ),
  revive: [(queue) => queue.revive(["a"], due), (queue) => queue.revive("all", due)],
  remove: [(queue) => queue.remove(["a"])],
  purge: [(queue) => queue.purge("waiting"), (queue) => queue.purge("dead")],
  audit: [(queue) => queue.audit()],
  repair: [(queue) => queue.repair()],
  pause: [(queue) => queue.pause()],
  resume: [(queue) => queue.resume()],
  watch: [async (queue) => await (await queue.watch("c", watcher))[Symbol.asyncDispose]()],
};

/** The same of a queue. */
const calls: Operations<Queue, "name" | "consume" | "deliveries"> = {
  schedule: [
    (queue) => queue.schedule(1, due),
    (queue) => queue.schedule(1, { ...due, id: "a", onDuplicate: "replace" }),
    (queue) => queue.schedule(1, { at: 8.64e15 }),
  ],
  scheduleMany: [(queue) => queue.scheduleMany([{ payload: 1, ...due, id: "a", onDuplicate: "replace" }])],
  reschedule: [(queue) => queue.reschedule("a", due)],
  cancel: [(queue) => queue.cancel("a")],
  cancelMany: [(queue) => queue.cancelMany(["a"])],
  get: [(queue) => queue.get("a")],
  list: (["scheduled", "due", "leased", "dead"] as const).map((state) => (queue: Queue) => queue.list({ state })),
  counts: [(queue) => queue.counts()],
  pause: [(queue) => queue.pause()],
  resume: [(queue) => queue.resume()],
  revive: [(queue) => queue.revive(["a"]), (queue) => queue.revive("all")],
  remove: [(queue) => queue.remove(["a"])],
  purge: [(queue) => queue.purge("waiting"), (queue) => queue.purge("dead")],
  audit: [(queue) => queue.audit()],
  repair: [(queue) => queue.repair()],
  receive: [(queue) => queue.receive()],
};

/** What a refusal says: which engine, what, why, and which one can. */
const refusal = /^The engine (\S+) cannot (.+?): (\S+ \S+ \S.+)\. The engine (\S+) can\.$/u;

let queues = 0;

/** Every call of both tables on an engine, each with a name that says which. */
function callsOn(engine: Engine): ReadonlyMap<string, () => unknown> {
  const name = `refusals-${++queues}`;
  const contract = () => engine.open(name);
  const queue = () => new Queue(name, { engine });
  return new Map([
    ...numbered("EngineQueue", operations, contract),
    ...numbered("Queue", calls, queue),
    ["rememberFor", () => engine.open(name, { rememberFor: 1_000 }).schedule([{ ...message, id: "b" }])],
    ["Queue with rememberFor", () => new Queue(name, { engine, rememberFor: "1s" }).schedule(1, due)],
  ]);
}

function numbered<Target>(
  name: string,
  table: Readonly<Record<string, readonly ((target: Target) => unknown)[]>>,
  open: () => Target,
): [string, () => unknown][] {
  return Object.entries(table).flatMap(([operation, ways]) =>
    ways.map((way, index): [string, () => unknown] => [`${name}.${operation} ${index}`, () => way(open())]),
  );
}

async function failureOf(call: (() => unknown) | undefined): Promise<unknown> {
  try {
    await call?.();
    return undefined;
  } catch (failure) {
    return failure;
  }
}

/** Makes an engine by the name of its subpath, which its factory is called after; on the first server whose address it takes. */
async function engineOf(name: string, options: object): Promise<Engine> {
  const module = (await import(`../../src/engines/${name}/engine.ts`)) as Record<string, (options: object) => Engine>;
  const make = module[`${name.replaceAll(/-([a-z])/gu, (_, letter: string) => letter.toUpperCase())}Engine`];
  if (make === undefined) throw new Error(`src/engines/${name}/engine.ts exports no factory that is called after it.`);
  for (const url of [redis.url, rabbitmq.url]) {
    try {
      return make({ url, ...options });
    } catch (failure) {
      if (!(failure instanceof PunctualError && failure.code === "invalid-argument")) throw failure;
    }
  }
  return make(options);
}

// A broker on a busy machine takes seconds to make its ladder.
describe("what an engine refuses", { timeout: 60_000 }, () => {
  it.each(subjects)("by %s %j is refused with the reason, and with an engine that can", async (name, options) => {
    await using engine = await engineOf(name, options);
    for (const [what, call] of callsOn(engine)) {
      const failure = await failureOf(call);
      if (failure === undefined) continue;
      // Whatever is not refused is done, so nothing else can go wrong here.
      expect([what, failure]).toEqual([what, expect.any(PunctualError)]);
      const { code, message: sentence, details } = failure as PunctualError;
      expect([what, code, sentence]).toEqual([what, "unsupported", expect.any(String)]);
      const said = refusal.exec(sentence);
      expect([what, sentence, said?.[1]]).toEqual([what, sentence, name]);
      expect([what, details]).toEqual([what, expect.objectContaining({ engine: name, operation: expect.any(String) })]);
      await using other = await engineOf(said?.[4] ?? "", {});
      expect([what, await failureOf(callsOn(other).get(what))]).toEqual([what, undefined]);
    }
  });

  it.each(subjects)("of bounds for dead letters by %s %j is as well, or it takes them", async (name, options) => {
    const bounded = { ...options, deadLetters: { max: 1 } };
    const failure = await failureOf(async () => await (await engineOf(name, bounded)).close());
    if (failure === undefined) return;
    const said = refusal.exec(failure instanceof PunctualError ? failure.message : "");
    expect([failure, said?.slice(1, 3)]).toEqual([
      expect.objectContaining({ code: "unsupported", details: { engine: name, operation: "bury" } }),
      [name, "bury with deadLetters"],
    ]);
    await using other = await engineOf(said?.[4] ?? "", { deadLetters: { max: 1 } });
    expect(other.name).toBe(said?.[4]);
  });
});
