import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RawQueue, ScriptBench } from "../../../../test/redis-engine/raw-queue.js";
import { nodeRedis } from "../../../clients/node-redis.js";
import type { NewMessage } from "../../../engine.js";
import { Supervisor } from "../../../connection/supervisor.js";
import { acknowledge } from "./acknowledge.js";
import { repair } from "./audit.js";
import { bury } from "./bury.js";
import { cancel } from "./cancel.js";
import { claim } from "./claim.js";
import { counts } from "./counts.js";
import { extend } from "./extend.js";
import { get } from "./get.js";
import { release } from "./release.js";
import { reschedule } from "./reschedule.js";
import { retry } from "./retry.js";
import { schedule } from "./schedule.js";

let bench: ScriptBench;
let redis: Supervisor;
beforeAll(async () => {
  bench = await ScriptBench.start();
  redis = new Supervisor({ connector: nodeRedis({ url: bench.server.url }) });
});
afterAll(async () => {
  await redis.close();
  await bench[Symbol.asyncDispose]();
});

const message = (id: string, more: Partial<NewMessage> = {}): NewMessage => ({
  id,
  payload: Buffer.alloc(100),
  due: { at: 9e12 },
  onDuplicate: "keep",
  ...more,
});

const dump = async (queue: RawQueue) => [
  await queue.schedule(),
  await queue.hash("messages"),
  await queue.scores("leases"),
  await queue.hash("leased"),
  await queue.hash("failures"),
  await queue.scores("dead"),
];

/** Leaves Redis no memory to give until `work` is over. It measures its use now and then, so this is set well below it. */
async function atTheLimit<Result>(work: () => Promise<Result>): Promise<Result> {
  await bench.raw.command("CONFIG", "SET", "maxmemory", 100_000);
  try {
    return await work();
  } finally {
    await bench.raw.command("CONFIG", "SET", "maxmemory", 0);
  }
}

describe("At the memory limit of Redis", () => {
  it("schedule fails with storage-full and writes nothing, new or replacing", async () => {
    const queue = bench.queue();
    await queue.scheduled("there", 9e12);
    await queue.leased("ended", { until: 1, due: 1, token: "t", attempts: 5 });
    const before = await dump(queue);
    await atTheLimit(async () => {
      const replacing = { onDuplicate: "replace" } as const;
      for (const messages of [
        [message("a"), message("b")],
        [message("there", replacing), message("ended", replacing)],
      ]) {
        await expect(schedule(redis, queue.keys, messages)).rejects.toMatchObject({
          code: "storage-full",
          details: { results: [undefined, undefined] },
        });
      }
      expect(await schedule(redis, queue.keys, [message("there")])).toEqual([{ outcome: "duplicate", dueAt: 9e12 }]);
    });
    expect(await dump(queue)).toEqual(before);
    expect((await schedule(redis, queue.keys, [message("a")]))[0]?.outcome).toBe("scheduled");
  });

  it("all that was scheduled goes its way", async () => {
    const queue = bench.queue();
    const ids = ["acknowledge", "retry", "spent", "release", "bury", "extend"];
    await schedule(
      redis,
      queue.keys,
      ids.map((id) => message(id, { due: { at: 0 }, attempts: id === "spent" ? 1 : 5 })),
    );
    await schedule(redis, queue.keys, [message("cancel"), message("reschedule")]);
    await atTheLimit(async () => {
      const request = { consumer: "c", token: "t", limit: 10, lease: 30_000, attempts: 5, order: 1 };
      const { messages, leaseUntil } = await claim(redis, queue.keys, request);
      expect(messages.map(({ id }) => id)).toEqual(ids);
      const receipt = (id: string) => ({ id, token: "t", leaseUntil });
      const error = { name: "Error", message: "x".repeat(1_000) };

      expect(await extend(redis, queue.keys, [receipt("extend")], 60_000)).toMatchObject([{ outcome: "extended" }]);
      expect(await acknowledge(redis, queue.keys, [receipt("acknowledge")])).toEqual(["settled"]);
      expect(await retry(redis, queue.keys, [{ ...receipt("retry"), delay: 60_000, error }])).toEqual(["settled"]);
      expect(await retry(redis, queue.keys, [{ ...receipt("spent"), delay: 0 }])).toEqual(["settled"]);
      expect(await release(redis, queue.keys, [{ ...receipt("release"), delay: 60_000 }])).toEqual(["settled"]);
      expect(await bury(redis, queue.keys, [{ ...receipt("bury"), reason: "r", error }])).toEqual(["settled"]);
      expect(await cancel(redis, queue.keys, ["cancel"])).toEqual(["cancelled"]);
      expect(await reschedule(redis, queue.keys, [{ id: "reschedule", due: { at: 8e12 } }])).toEqual(["rescheduled"]);
      expect(await counts(redis, queue.keys)).toMatchObject({ scheduled: 3, due: 0, leased: 1, dead: 2 });
      expect((await get(redis, queue.keys, ["retry"]))[0]?.lastError?.message).toBe(error.message);
    });
  });

  it("what is gone is remembered, and dead letters fall out of their bounds", async () => {
    const queue = bench.queue();
    await schedule(
      redis,
      queue.keys,
      [message("a", { due: { at: 0 } }), message("b", { due: { at: 0 } }), message("c")],
      {
        rememberFor: 60_000,
      },
    );
    await queue.stored("dead", {});
    await queue.failed("dead", 1);
    await bench.raw.command("ZADD", queue.keys.dead, 1, "dead");
    await atTheLimit(async () => {
      const request = { consumer: "c", token: "t", limit: 10, lease: 30_000, attempts: 5, order: 1, returns: false };
      const { leaseUntil } = await claim(redis, queue.keys, request);
      const receipt = (id: string) => ({ id, token: "t", leaseUntil });
      expect(await acknowledge(redis, queue.keys, [receipt("a")])).toEqual(["settled"]);
      expect(await cancel(redis, queue.keys, ["c"])).toEqual(["cancelled"]);
      const bounded = { max: 1, maxAge: undefined };
      expect(await bury(redis, queue.keys, [{ ...receipt("b"), reason: "r" }], bounded)).toEqual(["settled"]);
      expect((await schedule(redis, queue.keys, [message("a")]))[0]?.outcome).toBe("duplicate");
    });
    expect(Object.keys(await queue.scores("gone")).toSorted()).toEqual(["a", "c", "dead"]);
    expect(Object.keys(await queue.scores("dead"))).toEqual(["b"]);
  });

  it("repair goes on, though it may free nothing", async () => {
    const queue = bench.queue();
    await queue.stored("a", {});
    const { problems } = await atTheLimit(() => repair(redis, queue.keys));
    expect(problems).toMatchObject([{ kind: "message-without-index" }]);
    expect((await queue.schedule()).map(([id]) => id)).toEqual(["a"]);
  });

  it("extend alone goes on, though it frees nothing", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    await queue.leased("a", { until: now + 60_000, due: now, token: "t", attempts: 5 });
    await atTheLimit(() => extend(redis, queue.keys, [{ id: "a", token: "t", leaseUntil: 0 }], 90_000));
    expect((await queue.scores("leases"))["a"]).toBeGreaterThanOrEqual(now + 90_000);
  });

  it("reschedule alone goes on, though it frees nothing", async () => {
    const queue = bench.queue();
    await queue.scheduled("a", 9e12);
    await atTheLimit(() => reschedule(redis, queue.keys, [{ id: "a", due: { at: 8e12 } }]));
    expect(await queue.schedule()).toEqual([["a", 8e12]]);
  });
});
