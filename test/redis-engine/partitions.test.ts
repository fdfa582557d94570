import { describe, expect, it } from "vitest";
import { redisEngine } from "../../src/engines/redis/engine.js";
import { partitionOf } from "../../src/engines/redis/partition-of.js";
import { Queue, type When } from "../../src/index.js";
import { quote } from "../../src/quote.js";
import { startRedisServer } from "../../src/testing/redis-server.js";
import { scriptCalls } from "../support/script-calls.js";
import { withRedis } from "../support/with-redis.js";

const redis = withRedis();
let queues = 0;

/** A queue in three partitions, and a second engine on it, as another process has it. */
function split(partitions = 3) {
  const name = `split-${++queues}`;
  const engine = redisEngine({ url: redis.url, partitions });
  const other = redisEngine({ url: redis.url, partitions });
  return {
    name,
    engine,
    queue: new Queue<number>(name, { engine }),
    otherQueue: new Queue<number>(name, { engine: other }),
    async [Symbol.asyncDispose]() {
      await Promise.all([engine.close(), other.close()]);
    },
  };
}

const numbered = (count: number, when: When = { delay: 0 }) =>
  Array.from({ length: count }, (_, n) => ({ payload: n, id: `m-${n}`, ...when }));

/** All messages that are listed, in pages of 40. */
async function listed(queue: Queue<number>, state: "scheduled" | "dead", from?: string) {
  const all: { id: string; dueAt: number }[] = [];
  for (let cursor = from; ;) {
    const page = await queue.list({ state, limit: 40, ...(cursor === undefined ? {} : { cursor }) });
    expect(page.messages.length).toBeLessThanOrEqual(40);
    all.push(...page.messages.map((message) => ({ id: message.id, dueAt: message.dueAt.getTime() })));
    cursor = page.cursor;
    if (cursor === undefined) return all;
  }
}

describe("a queue in partitions", () => {
  it("delivers each message once to consumers of two processes, who share one concurrency each", async () => {
    await using scene = split();
    const seen: number[] = [];
    let active = 0;
    let most = 0;
    const handler = async ({ payload }: { payload: number }) => {
      most = Math.max(most, ++active);
      await new Promise((resolve) => setTimeout(resolve, 1));
      active -= 1;
      seen.push(payload);
    };
    await using one = scene.queue.consume(handler, { concurrency: 7 });
    await using two = scene.otherQueue.consume(handler, { concurrency: 7 });
    await scene.queue.scheduleMany(numbered(1_000));
    await expect.poll(() => seen.length, { timeout: 15_000 }).toBe(1_000);
    expect(seen.toSorted((a, b) => a - b)).toEqual(numbered(1_000).map(({ payload }) => payload));
    expect(most).toBeLessThanOrEqual(14);
    expect([one.health().state, two.health().state]).toEqual(["running", "running"]);
    expect(await scene.queue.counts()).toEqual({ scheduled: 0, due: 0, leased: 0, dead: 0, paused: false });
  });

  it("keeps the order of equal due times within each partition", async () => {
    await using scene = split();
    const seen: string[] = [];
    await scene.queue.scheduleMany(numbered(150, { at: Date.now() + 200 }));
    await using _ = scene.queue.consume(({ id }) => void seen.push(id), { concurrency: 1 });
    await expect.poll(() => seen.length, { timeout: 10_000 }).toBe(150);
    for (const place of [0, 1, 2]) {
      const own = (all: readonly string[]) => all.filter((id) => partitionOf(id, 3) === place);
      expect(own(seen)).toEqual(own(numbered(150).map(({ id }) => id)));
    }
  });

  it("costs a claim and a settlement a message at most, also with many partitions and little room", async () => {
    await using scene = split(12);
    await scene.queue.scheduleMany(numbered(1_000));
    const before = await scriptCalls(redis.raw);
    let seen = 0;
    await using _ = scene.queue.consume(
      async () => {
        await new Promise((resolve) => setTimeout(resolve, 1 + (seen % 9)));
        seen += 1;
      },
      { concurrency: 10 },
    );
    await expect.poll(() => seen, { timeout: 15_000 }).toBe(1_000);
    // What each partition costs at the beginning comes on top.
    expect((await scriptCalls(redis.raw)) - before).toBeLessThan(2 * 1_000 + 10 * 12);
  });

  it("tells an outage once, and its end when all partitions are there again", async () => {
    await using server = await startRedisServer();
    await using engine = redisEngine({ url: server.url, partitions: 5 });
    const told: string[] = [];
    await using consumer = new Queue<number>("split", { engine }).consume(() => {});
    consumer
      .on("error", () => told.push("error"))
      .on("recovered", () => told.push(`recovered ${consumer.health().state}`));
    await expect.poll(() => consumer.health().state).toBe("running");
    await server.kill();
    await expect.poll(() => consumer.health().state, { timeout: 10_000 }).toBe("recovering");
    await server.restart();
    await expect.poll(() => told, { timeout: 10_000 }).toContain("recovered running");
    expect(told).toEqual(["error", "recovered running"]);
  });

  it("gives a first call no more time than it asks for", async () => {
    await using scene = split();
    redis.server.pause();
    const began = performance.now();
    await expect(scene.queue.schedule(1, { delay: 0, timeout: 300 })).rejects.toMatchObject({ code: "not-sent" });
    expect(performance.now() - began).toBeLessThan(1_500);
    redis.server.continue();
  });

  it("lists all partitions in the order of due times, each message once, while others go", async () => {
    await using scene = split();
    const at = Date.now() + 3_600_000;
    await scene.queue.scheduleMany(numbered(300).map(({ payload, id }, n) => ({ payload, id, at: at + n })));
    const all = await listed(scene.queue, "scheduled");
    expect(all.map(({ id }) => id)).toEqual(numbered(300).map(({ id }) => id));
    const { messages, cursor } = await scene.queue.list({ limit: 40 });
    const seen = messages.map(({ id }) => id);
    await scene.queue.cancelMany([...seen, "m-145"]);
    const rest = (await listed(scene.queue, "scheduled", cursor)).map(({ id }) => id);
    expect(rest).toEqual(all.map(({ id }) => id).filter((id) => !seen.includes(id) && id !== "m-145"));
  });

  it("refuses the cursor of another queue or state, as it was given, also where no partition has a place in it", async () => {
    await using scene = split(2);
    await using another = split(2);
    const inPartition = (place: number) => numbered(50).find(({ id }) => partitionOf(id, 2) === place)!.id;
    for (const { queue } of [scene, another]) {
      // The first page uses up one partition and nothing of the other.
      await queue.scheduleMany(
        [0, 1].map((place) => ({ payload: place, id: inPartition(place), delay: `${1 + place}h` })),
      );
    }
    const { messages, cursor } = await scene.queue.list({ limit: 1 });
    expect(messages.map(({ id }) => id)).toEqual([inPartition(0)]);
    const refused = (text = cursor) => ({
      code: "invalid-argument",
      message: expect.stringContaining(`cursor is ${quote(text)}`),
    });
    await expect(another.queue.list({ cursor })).rejects.toMatchObject(refused());
    await expect(scene.queue.list({ cursor, state: "dead" })).rejects.toMatchObject(refused());
    const rest = await scene.queue.list({ cursor });
    expect(rest.messages.map(({ id }) => id)).toEqual([inPartition(1)]);
    const mark = `${cursor}`.slice(0, `${cursor}`.indexOf("["));
    const changed = ["x", " ", "\n"].map((more) => `${cursor}${more}`);
    // Places that no page ends at: the beginning of all partitions, and the end of all.
    const bare = ["[null,null]", "[false,false]", "[]"].map((places) => `${mark}${places}`);
    for (const text of ['["x"]', ...changed, ...bare, `${cursor}`.replace("null", '"of another"')]) {
      await expect(scene.queue.list({ cursor: text })).rejects.toMatchObject(refused(text));
    }
  });

  it("cancels, reschedules, pauses, purges, audits, and revives across all partitions", async () => {
    await using scene = split();
    const { queue } = scene;
    await queue.scheduleMany(numbered(60, { delay: 3_600_000 }));
    expect(await queue.cancelMany(["m-0", "m-1", "m-2", "none"])).toEqual([
      "cancelled",
      "cancelled",
      "cancelled",
      "absent",
    ]);
    await queue.pause();
    expect((await queue.counts()).paused).toBe(true);
    for (const id of ["m-3", "m-4", "m-5", "m-6"]) await queue.reschedule(id, { delay: 0 });
    await using consumer = queue.consume(({ bury }) => bury("poison"), { retry: { attempts: 1 } });
    expect(await scene.otherQueue.counts()).toMatchObject({ due: 4, dead: 0 });
    await queue.resume();
    await expect.poll(() => queue.counts()).toMatchObject({ scheduled: 53, dead: 4, paused: false });
    await consumer.close();
    expect((await listed(queue, "dead")).map(({ id }) => id).toSorted()).toEqual(["m-3", "m-4", "m-5", "m-6"]);
    expect(await queue.audit()).toMatchObject({ ok: true });
    expect(await queue.revive(["m-3", "m-60"], { delay: 3_600_000 })).toBe(1);
    expect(await queue.revive("all", { delay: 3_600_000 })).toBe(3);
    expect(await queue.purge("waiting")).toBe(57);
  });

  it("is refused to a process that says another number, or none, until the note is removed", async () => {
    await using scene = split();
    await scene.queue.scheduleMany(numbered(30, { delay: 3_600_000 }));
    for (const partitions of [1, 2]) {
      await using engine = redisEngine({ url: redis.url, partitions });
      await expect(new Queue<number>(scene.name, { engine }).schedule(2, { delay: 0 })).rejects.toMatchObject({
        code: "misconfigured",
        message: `Queue "${scene.name}" is split into 3 partitions, and the option partitions here is ${partitions}; make them the same, or see docs/how-to/partitions.md.`,
      });
    }
    await scene.queue.purge("waiting");
    // The page on partitions names these as what stays.
    const left = (await redis.raw.command("KEYS", `{punctual:${scene.name}/*`)) as unknown[];
    expect(left.map(String).toSorted()).toEqual([0, 1, 2].map((place) => `{punctual:${scene.name}/${place}}:state`));
    await redis.raw.command("HDEL", `{punctual:${scene.name}}:state`, "partitions");
    await using engine = redisEngine({ url: redis.url, partitions: 5 });
    await new Queue<number>(scene.name, { engine }).schedule(2, { delay: 0 });
  });

  it("is refused while the queue has messages from before it was split", async () => {
    await using whole = redisEngine({ url: redis.url });
    const name = `split-${++queues}`;
    await new Queue<number>(name, { engine: whole }).schedule(1, { delay: 3_600_000 });
    await using engine = redisEngine({ url: redis.url, partitions: 2 });
    await expect(new Queue<number>(name, { engine }).counts()).rejects.toMatchObject({
      code: "misconfigured",
      message: `Queue "${name}" is not split into partitions, and the option partitions here is 2; make them the same, or see docs/how-to/partitions.md.`,
    });
  });

  it.each([0, 1.5, 1_025, Number.NaN, "3"])("of %s is refused", (partitions) => {
    expect(() => redisEngine({ url: redis.url, partitions: partitions as number })).toThrow(
      /partitions is .*; accepted is a whole number from 1 to 1,024/u,
    );
  });
});
