import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { redisEngine, type RedisEngineOptions } from "../../src/engines/redis/engine.js";
import { PunctualError, Queue } from "../../src/index.js";
import { type RedisServer, startRedisServer } from "../../src/testing/redis-server.js";
import { closedAtEnd } from "../support/closed-at-end.js";
import { FaultProxy, isCommand } from "../support/fault-proxy.js";
import { type RawRedis, rawRedis } from "../support/raw-redis.js";
import { eventually } from "../support/topologies/eventually.js";
import { promptReplication } from "../support/topologies/prompt-replication.js";
import { valkeyServer } from "../support/valkey.js";

async function failureOf(call: Promise<unknown>): Promise<PunctualError> {
  const failure = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (failure instanceof PunctualError) return failure;
  throw new Error("expected a PunctualError", { cause: failure });
}

let queues = 0;
const hour = { delay: "1h" } as const;
const many = (count: number) => Array.from({ length: count }, (_, n) => ({ payload: n, id: `m-${n}`, ...hour }));

/** A wait answers for what was written on its own connection; on Redis 7.0 also for what was there when that ran a command. */
const servers = [
  { name: "Redis", binary: undefined },
  { name: "Valkey", binary: valkeyServer() },
];

describe.each(servers.filter(({ name, binary }) => name === "Redis" || binary !== undefined))(
  "With durability of one replica, on $name",
  ({ binary }) => {
    let primary: RedisServer;
    let replica: RedisServer;
    let proxy: FaultProxy;
    let raw: RawRedis;
    let onReplica: RawRedis;
    let waits: number;
    beforeAll(async () => {
      primary = await startRedisServer({ binary, args: promptReplication });
      replica = await startRedisServer({ binary, args: ["--replicaof", "127.0.0.1", String(primary.port)] });
      raw = await rawRedis(primary.url);
      onReplica = await rawRedis(replica.url);
    });
    beforeEach(async () => {
      proxy = await FaultProxy.start(primary.port);
      waits = 0;
      // Sees all requests and strikes none.
      proxy.plan("hold", ({ command }) => {
        if (command === "WAIT") waits += 1;
        return false;
      });
      await eventually("a replica", async () => {
        const isOnline = String(await raw.text("INFO", "replication")).includes("state=online");
        return (isOnline && (await raw.text("WAIT", 1, 100)) === 1) || undefined;
      });
    });
    afterEach(async () => {
      replica.continue();
      await proxy[Symbol.asyncDispose]();
    });
    afterAll(async () => {
      raw.close();
      onReplica.close();
      await replica.stop();
      await primary.stop();
    });

    // Long for a replica on this machine, however busy that is.
    function open({ timeout = 1_500, ...options }: Partial<RedisEngineOptions> & { timeout?: number } = {}) {
      const engine = closedAtEnd(redisEngine({ url: proxy.url, ...options, durability: { replicas: 1, timeout } }));
      const name = `durable-${++queues}`;
      return { name, engine, queue: new Queue<number>(name, { engine }) };
    }
    const isOnReplica = async (name: string, id: string) =>
      (await onReplica.text("HEXISTS", `{punctual:${name}}:messages`, id)) === 1;

    it("a schedule comes back when the replica has its message", async () => {
      const { name, queue } = open();
      await queue.schedule(0, hour);
      const before = waits;
      await queue.schedule(1, { ...hour, id: "a" });
      expect(await isOnReplica(name, "a")).toBe(true);
      expect(waits - before).toBe(1);
    });

    it("and the replica stopped, it fails with what was stored, which is delivered all the same", async () => {
      const { queue } = open();
      await queue.schedule(0, hour);
      replica.pause();
      expect(await failureOf(queue.schedule(1, { delay: 0, id: "a" }))).toMatchObject({
        code: "not-confirmed",
        message: expect.stringMatching(/^The messages are stored, and 0 of 1 replicas confirmed them within 1500 ms\./),
        details: { results: [{ id: "a", dueAt: expect.any(Date), outcome: "scheduled" }] },
      });
      const [delivery] = await queue.receive();
      expect(delivery?.id).toBe("a");
    });

    it("and the replica stopped, each of the calls of one tick fails with its own result, after one wait", async () => {
      const { queue } = open();
      await queue.schedule(0, { ...hour, id: "b" });
      const before = waits;
      replica.pause();
      const calls = ["a", "b", "c"].map((id) => failureOf(queue.schedule(1, { ...hour, id })));
      const told = (await Promise.all(calls)).map(({ code, details }) => ({ code, results: details["results"] }));
      expect(told).toMatchObject([
        { code: "not-confirmed", results: [{ id: "a", outcome: "scheduled" }] },
        { code: "not-confirmed", results: [{ id: "b", outcome: "duplicate" }] },
        { code: "not-confirmed", results: [{ id: "c", outcome: "scheduled" }] },
      ]);
      expect(told.map(({ results }) => (results as unknown[]).length)).toEqual([1, 1, 1]);
      expect(waits - before).toBe(1);
    });

    it("a list of any length waits once, and is stored to its end when the replica is stopped", async () => {
      const { name, queue } = open();
      await queue.scheduleMany(many(1_200));
      expect(waits).toBe(1);
      expect(await isOnReplica(name, "m-1199")).toBe(true);
      replica.pause();
      const more = many(2_400);
      const { code, details } = await failureOf(queue.scheduleMany(more));
      expect(code).toBe("not-confirmed");
      expect(details["results"]).toHaveLength(2_400);
      expect((await queue.counts()).scheduled).toBe(2_400);
      expect(waits).toBe(2);
    });

    it("calls that come while one waits share the next wait, so that they do not take turns", async () => {
      const { queue } = open();
      await queue.schedule(0, hour);
      replica.pause();
      // With a time-out of their own they are not put together by the queue.
      const before = waits;
      const calls = Array.from({ length: 20 }, (_, n) => failureOf(queue.schedule(n, { ...hour, timeout: "5s" })));
      expect(new Set((await Promise.all(calls)).map(({ code }) => code))).toEqual(new Set(["not-confirmed"]));
      expect(waits - before).toBeLessThanOrEqual(2);
    });

    it("a call that comes while another one waits has the time of both waits, however short its time-out", async () => {
      const { queue } = open({ timeout: 1_000 });
      await queue.schedule(0, hour);
      replica.pause();
      const before = waits;
      const first = failureOf(queue.schedule(1, hour));
      await expect.poll(() => waits).toBe(before + 1);
      const second = failureOf(queue.schedule(2, { ...hour, id: "a", timeout: 900 }));
      expect(await first).toMatchObject({ code: "not-confirmed" });
      expect(await second).toMatchObject({
        code: "not-confirmed",
        details: { results: [{ id: "a", outcome: "scheduled" }] },
      });
    });

    it("what else the engine does is not held up by a wait", async () => {
      const { queue } = open({ timeout: 5_000 });
      await queue.schedule(0, { delay: 0 });
      replica.pause();
      const waiting = queue.schedule(1, hour);
      const isFirst = await Promise.race([
        waiting.then(() => "the schedule"),
        Promise.all([queue.counts(), queue.receive()]).then(() => "the others"),
      ]);
      expect(isFirst).toBe("the others");
      replica.continue();
      await waiting;
    });

    it("a wait may be longer than the silence after which a connection is given up", async () => {
      const { queue } = open({ timeout: 6_000 });
      await queue.schedule(0, hour);
      const connections = proxy.accepted;
      replica.pause();
      const waiting = queue.schedule(1, hour);
      // Over 2 s, which is what has to pass here.
      await sleep(2_600);
      replica.continue();
      expect((await waiting).outcome).toBe("scheduled");
      expect(proxy.accepted).toBe(connections);
    });

    it.each(["cut-before-reply", "cut-inside-reply"] as const)(
      "the reply lost (%s), the repeated call waits for what the first has written",
      async (fault) => {
        const { queue } = open();
        await queue.schedule(0, hour);
        replica.pause();
        const planned = proxy.plan(fault, isCommand("EVALSHA"));
        const call = failureOf(queue.schedule(1, { ...hour, id: "a" }));
        await planned.happened;
        expect(await call).toMatchObject({
          code: "not-confirmed",
          details: { results: [{ id: "a", outcome: "scheduled" }] },
        });
      },
    );

    it("the answer to the wait lost, there is one message, and it is waited for again", async () => {
      const { name, queue } = open();
      await queue.schedule(0, hour);
      const planned = proxy.plan("cut-before-reply", isCommand("WAIT"));
      const call = queue.schedule(1, { ...hour, id: "a" });
      await planned.happened;
      expect((await call).outcome).toBe("scheduled");
      expect(await isOnReplica(name, "a")).toBe(true);
      expect(await queue.counts()).toMatchObject({ scheduled: 2 });
    });

    it("scheduling again what was not confirmed waits for it, and stores nothing", async () => {
      const { name, queue } = open();
      await queue.schedule(0, hour);
      replica.pause();
      await failureOf(queue.schedule(1, { ...hour, id: "a" }));
      // On a connection that has written nothing.
      const engine = closedAtEnd(redisEngine({ url: proxy.url, durability: { replicas: 1, timeout: 1_500 } }));
      const again = new Queue<number>(name, { engine });
      expect(await failureOf(again.schedule(1, { ...hour, id: "a" }))).toMatchObject({
        code: "not-confirmed",
        details: { results: [{ id: "a", outcome: "duplicate" }] },
      });
      replica.continue();
      expect((await again.schedule(1, { ...hour, id: "a" })).outcome).toBe("duplicate");
      expect(await isOnReplica(name, "a")).toBe(true);
    });

    it("a connection that is lost between the parts of a list leaves the first of them unconfirmed, and says so", async () => {
      const { queue } = open();
      await queue.schedule(0, hour);
      const planned = proxy.plan("cut-before-request", isCommand("EVALSHA"), 2);
      const call = failureOf(queue.scheduleMany(many(1_200)));
      await planned.happened;
      const { code, message, details } = await call;
      expect(code).toBe("not-confirmed");
      expect(message).toContain("the connection was lost in between");
      expect(details["results"]).toHaveLength(1_200);
    });

    it("each partition waits for its own, and the results come in the order of the messages", async () => {
      const { queue } = open({ partitions: 3 });
      await queue.scheduleMany(many(30));
      expect(waits).toBeLessThanOrEqual(3);
      replica.pause();
      const { code, details } = await failureOf(queue.scheduleMany(many(40)));
      expect(code).toBe("not-confirmed");
      const outcomes = (details["results"] as { outcome: string }[]).map(({ outcome }) => outcome);
      expect(outcomes).toEqual([...Array<string>(30).fill("duplicate"), ...Array<string>(10).fill("scheduled")]);
    });

    it("a user who may not WAIT is told what is missing", async () => {
      await raw.command("ACL", "SETUSER", "app", "on", ">pw", "~*", "&*", "+@all", "-wait");
      const { queue } = open({ username: "app", password: "pw" });
      expect(await failureOf(queue.schedule(1, hour))).toMatchObject({
        code: "misconfigured",
        message: expect.stringContaining("NOPERM"),
      });
    });
  },
);
