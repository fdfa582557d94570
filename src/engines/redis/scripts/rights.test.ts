import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { directEvaluator } from "../../../../test/redis-engine/direct-evaluator.js";
import { type RawQueue, ScriptBench } from "../../../../test/redis-engine/raw-queue.js";
import { nodeRedis } from "../../../clients/node-redis.js";
import type { Evaluator } from "../../../scripting/script.js";
import { acknowledge } from "./acknowledge.js";
import { audit } from "./audit.js";
import { bury } from "./bury.js";
import { cancel } from "./cancel.js";
import { claim } from "./claim.js";
import { extend } from "./extend.js";
import { get } from "./get.js";
import { pause } from "./pause.js";
import { purge } from "./purge.js";
import { reclaim } from "./reclaim.js";
import { release } from "./release.js";
import { remove } from "./remove.js";
import { reschedule } from "./reschedule.js";
import { resume } from "./resume.js";
import { retry } from "./retry.js";
import { revive } from "./revive.js";
import { schedule } from "./schedule.js";

/** A right that is taken away, or a key that something else has written, meets a script in its middle: Lua does not roll back. */

let bench: ScriptBench;
beforeAll(async () => {
  bench = await ScriptBench.start();
  await bench.raw.command("ACL", "SETUSER", "app", "on", ">pw", "~*", "&*", "+@all");
});
afterAll(() => bench[Symbol.asyncDispose]());

const until = 9e12;
const ids = ["scheduled", "due", "leased", "failed", "spent", "ended", "endedSpent", "dead"];

async function filled(): Promise<RawQueue> {
  const queue = bench.queue();
  const now = await bench.now();
  await queue.scheduled("scheduled", until);
  await queue.scheduled("due", now - 10);
  for (const id of ["leased", "failed", "spent"]) {
    await queue.leased(id, { until: now + 60_000, due: now - 10, token: "t", attempts: id === "spent" ? 1 : 5 });
  }
  await queue.failed("failed", 1);
  await queue.leased("ended", { until: now - 5, due: now - 10, token: "t", attempts: 5 });
  await queue.leased("endedSpent", { until: now - 5, due: now - 10, token: "t", attempts: 1 });
  await queue.stored("dead", {});
  await queue.failed("dead", 1);
  await bench.raw.command("ZADD", queue.keys.dead, 1, "dead");
  await bench.raw.command("ZADD", queue.keys.gone, 1, "before");
  await bench.raw.command(
    "HSET",
    queue.keys.state,
    "rememberFor",
    60_000,
    "seq",
    100,
    "duty",
    "d",
    "dutyAt",
    until + 1,
  );
  return queue;
}

const receipts = ["leased", "failed", "spent"].map((id) => ({ id, token: "t", leaseUntil: 0 }));
const message = { payload: Buffer.from("new"), due: { at: 8e12 } } as const;
const replacing = (id: string) => ({ id, ...message, onDuplicate: "replace" }) as const;
const request = { consumer: "c", token: "t2", limit: 10, lease: 30_000, attempts: 5, order: 1 };
type Call = (evaluator: Evaluator, queue: RawQueue) => Promise<unknown>;

const calls: Record<string, Call> = {
  "schedule of a new message": (evaluator, { keys }) => schedule(evaluator, keys, [replacing("new")]),
  "schedule that replaces": (evaluator, { keys }) =>
    schedule(evaluator, keys, ["scheduled", "ended", "dead"].map(replacing)),
  claim: (evaluator, { keys }) => claim(evaluator, keys, request),
  acknowledge: (evaluator, { keys }) => acknowledge(evaluator, keys, receipts),
  retry: (evaluator, { keys }) =>
    retry(
      evaluator,
      keys,
      receipts.map((receipt) => ({ ...receipt, delay: 0 })),
    ),
  release: (evaluator, { keys }) => release(evaluator, keys, receipts),
  "bury within bounds": (evaluator, { keys }) =>
    bury(
      evaluator,
      keys,
      receipts.map((receipt) => ({ ...receipt, reason: "r" })),
      { max: 1, maxAge: undefined },
    ),
  bury: (evaluator, { keys }) =>
    bury(
      evaluator,
      keys,
      receipts.map((receipt) => ({ ...receipt, reason: "r" })),
    ),
  extend: (evaluator, { keys }) => extend(evaluator, keys, receipts, 1_000),
  cancel: (evaluator, { keys }) => cancel(evaluator, keys, ["scheduled", "ended", "dead"]),
  reschedule: (evaluator, { keys }) =>
    reschedule(
      evaluator,
      keys,
      ["scheduled", "ended", "endedSpent"].map((id) => ({ id, due: { at: 8e12 } })),
    ),
  reclaim: (evaluator, { keys }) => reclaim(evaluator, keys),
  revive: (evaluator, { keys }) =>
    revive(evaluator, keys, ["dead", "endedSpent"], { due: { at: 8e12 }, operation: "o" }),
  remove: (evaluator, { keys }) => remove(evaluator, keys, ["dead", "endedSpent"], "o"),
  purge: (evaluator, { keys }) => purge(evaluator, keys, "waiting", "o"),
  pause: (evaluator, { keys }) => pause(evaluator, keys),
  resume: (evaluator, { keys }) => resume(evaluator, keys),
};

const dump = async ({ keys }: RawQueue) =>
  await Promise.all(
    (["schedule", "messages", "leases", "leased", "failures", "dead"] as const).map(async (key) => {
      const isHash = key === "messages" || key === "leased" || key === "failures";
      const command = isHash ? ["HGETALL", keys[key]] : ["ZRANGE", keys[key], 0, -1, "WITHSCORES"];
      return [key, ((await bench.raw.command(...command)) as Buffer[]).map((part) => part.toString("latin1"))];
    }),
  );

/** What a script may do in parts, each complete: what has ended is reclaimed, before the rest. */
const inParts = new Set(["claim", "purge", "reclaim"]);

async function expectUnharmed(queue: RawQueue, name: string, before: unknown): Promise<void> {
  expect(inParts.has(name) ? before : await dump(queue)).toEqual(before);
  expect((await audit(bench.evaluator, queue.keys)).problems).toEqual([]);
  const found = await get(bench.evaluator, queue.keys, ids);
  expect(found.map((one) => one?.id)).toEqual(ids);
}

const rights = [
  "zadd",
  "zrem",
  "hset",
  "hdel",
  "hincrby",
  "zremrangebyscore",
  "publish",
  "hrandfield",
  "hget",
  "hlen",
  "zrange",
  "zremrangebyrank",
  "hstrlen",
  "zcount",
];

describe.each(Object.entries(calls))("%s", (name, call) => {
  it.each(rights)("does all or nothing without the right to %s", async (right) => {
    const queue = await filled();
    const before = await dump(queue);
    await bench.raw.command("ACL", "SETUSER", "app", `-${right}`);
    const { port } = bench.server;
    const denied = await nodeRedis({ url: `redis://app:pw@127.0.0.1:${port}` }).connect(1_000);
    try {
      const failure = await call(directEvaluator(denied), queue).then(
        () => undefined,
        (error: unknown) => error,
      );
      if (failure === undefined) return;
      expect(failure).toMatchObject({ message: expect.stringMatching(/can't run this command|NOPERM/) });
      await expectUnharmed(queue, name, before);
    } finally {
      await bench.raw.command("ACL", "SETUSER", "app", `+${right}`);
      denied.destroy();
    }
  });
});

describe.each(Object.entries(calls))("%s", (name, call) => {
  it.each(["schedule", "leases", "leased", "failures", "dead", "waiting", "claims"] as const)(
    "does all or nothing when %s is a key of another kind",
    async (key) => {
      const queue = await filled();
      const kept = `${queue.keys[key]}:kept`;
      const before = await dump(queue);
      const known = (await bench.raw.command("EXISTS", queue.keys[key])) === 1;
      if (known) await bench.raw.command("RENAME", queue.keys[key], kept);
      await bench.raw.command("SET", queue.keys[key], "something else");
      const failure = await call(bench.evaluator, queue).then(
        () => undefined,
        (error: unknown) => error,
      );
      await bench.raw.command("DEL", queue.keys[key]);
      if (known) await bench.raw.command("RENAME", kept, queue.keys[key]);
      if (failure === undefined) return;
      expect(failure).toMatchObject({ code: "WRONGTYPE" });
      await expectUnharmed(queue, name, before);
    },
  );
});

describe("A fence without a lease is what is left of one, and is passed over by", () => {
  const fenced = async () => {
    const queue = bench.queue();
    const now = await bench.now();
    await queue.leased("orphan", { until: now, due: now, token: "t", attempts: 1 });
    await queue.leased("dead", { until: now, due: now, token: "t", attempts: 5 });
    await bench.raw.command("DEL", queue.keys.leases);
    await bench.raw.command("ZADD", queue.keys.dead, 1, "dead");
    return queue;
  };

  it("get and schedule, which stores anew what no index knows", async () => {
    const queue = await fenced();
    const found = await get(bench.evaluator, queue.keys, ["orphan", "dead"]);
    expect(found.map((one) => one?.state)).toEqual([undefined, "dead"]);
    const [result] = await schedule(bench.evaluator, queue.keys, [{ id: "orphan", ...message, onDuplicate: "keep" }]);
    expect(result?.outcome).toBe("scheduled");
    expect(Object.keys(await queue.hash("leased"))).toEqual(["dead"]);
  });

  it("revive and remove", async () => {
    for (const act of ["revive", "remove"] as const) {
      const { keys } = await fenced();
      const due = { at: 8e12 };
      const some = ["orphan", "dead"];
      const done =
        act === "revive"
          ? revive(bench.evaluator, keys, some, { due, operation: "o" })
          : remove(bench.evaluator, keys, some, "o");
      expect(await done).toBe(1);
    }
  });
});
