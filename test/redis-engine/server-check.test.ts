import { afterEach, describe, expect, it, vi } from "vitest";
import { nodeRedis } from "../../src/clients/node-redis.js";
import { systemClock } from "../../src/clock.js";
import {
  askServer,
  checkRights,
  judge,
  type Send,
  type ServerNeeds,
  type ServerReport,
} from "../../src/connection/server-check.js";
import { redisEngine, type RedisEngineOptions, type ServerWarning } from "../../src/engines/redis/engine.js";
import { neededCommands } from "../../src/engines/redis/rights.js";
import { Queue } from "../../src/index.js";
import { startRedisServer } from "../../src/testing/redis-server.js";
import { closedAtEnd } from "../support/closed-at-end.js";
import { FaultProxy } from "../support/fault-proxy.js";
import { eventually } from "../support/topologies/eventually.js";
import { promptReplication } from "../support/topologies/prompt-replication.js";
import { valkeyServer } from "../support/valkey.js";
import { withRedis } from "../support/with-redis.js";

const sound = { redis_version: "8.4.0", maxmemory: "0", maxmemory_policy: "noeviction", aof_enabled: "1" };
const durable = { replicas: 0, fsync: false, timeout: 100 };
const bare = {
  info: new Map(),
  sentAt: 0,
  answeredAt: 0,
  snapshots: undefined,
  appendfsync: undefined,
  user: undefined,
};

/** Whatever Redis is on this machine may have known flaws, or none. */
const notOfVersion = ({ code }: { readonly code: string }) => code !== "flaw";

/** What is found in a server that says this of itself, besides what is sound. */
function found(info: Record<string, string>, needs: ServerNeeds = {}, more: Partial<ServerReport> = {}) {
  const fields = new Map(Object.entries({ ...sound, ...info }));
  return judge({ ...bare, info: fields, ...more }, needs).map(({ level, code }) => `${level} ${code}`);
}

describe("A server that says of itself", () => {
  it.each([
    ["what is sound", {}, []],
    ["that it is Redis 6.0", { redis_version: "6.0.16" }, ["problem version"]],
    ["that it is Redis 6.2.19", { redis_version: "6.2.19" }, ["warning flaw"]],
    ["that it is Redis 6.2.20", { redis_version: "6.2.20" }, []],
    ["that it is Redis 7.0.15, a line that was not mended", { redis_version: "7.0.15" }, ["warning flaw"]],
    ["that it is Redis 7.4.6", { redis_version: "7.4.6" }, []],
    ["that it is Redis 8.2.1", { redis_version: "8.2.1" }, ["warning flaw"]],
    [
      "that it is Valkey 8.0.1",
      { redis_version: "7.2.4", server_name: "valkey", valkey_version: "8.0.1" },
      ["warning flaw"],
    ],
    ["that it is Valkey 8.0.6, or 9.0", { redis_version: "7.2.4", server_name: "valkey", valkey_version: "9.0.0" }, []],
    ["a policy that evicts, without a limit", { maxmemory_policy: "allkeys-lru" }, []],
    [
      "a policy that evicts, with a limit",
      { maxmemory_policy: "allkeys-lru", maxmemory: "1000" },
      ["warning eviction"],
    ],
    ["a policy that takes what expires", { maxmemory_policy: "volatile-lru", maxmemory: "1000" }, []],
    ["that a snapshot failed", { rdb_last_bgsave_status: "err" }, ["warning persistence"]],
    ["that a rewrite failed", { aof_last_bgrewrite_status: "err" }, ["warning persistence"]],
    ["that a write failed", { aof_last_write_status: "err" }, ["warning persistence"]],
  ])("%s", (_, info, findings) => {
    expect(found(info)).toEqual(findings);
  });

  it("that nothing goes to its disk is warned of only when that is known", () => {
    expect(found({ aof_enabled: "0" }, {}, { snapshots: "" })).toEqual(["warning persistence"]);
    expect(found({ aof_enabled: "0" }, {}, { snapshots: "3600 1" })).toEqual([]);
    expect(found({ aof_enabled: "0" })).toEqual([]);
  });

  it("that it cannot confirm what is wanted has a problem", () => {
    const replicas = { durability: { ...durable, replicas: 2 } };
    expect(found({ connected_slaves: "1" }, replicas)).toEqual(["problem replicas"]);
    expect(found({ connected_slaves: "2" }, replicas)).toEqual([]);
    const fsync = { durability: { ...durable, fsync: true } };
    expect(found({ aof_enabled: "0" }, fsync)).toEqual(["problem fsync"]);
    expect(found({ redis_version: "7.0.15" }, fsync)).toEqual(["warning flaw", "problem fsync"]);
    expect(found({}, fsync)).toEqual([]);
  });

  it("confirms too early in some versions, when it writes to its disk every second", () => {
    const fsync = { durability: { ...durable, fsync: true } };
    const version = { redis_version: "7.4.2" };
    expect(found(version, fsync, { appendfsync: "everysec" })).toHaveLength(2);
    expect(found(version, fsync, { appendfsync: "always" })).toHaveLength(1);
    expect(found({ redis_version: "7.2.12" }, fsync, { appendfsync: "everysec" })).toEqual([]);
  });

  it("nothing is left alone", () => {
    expect(judge(bare, { durability: { ...durable, replicas: 2, fsync: true } })).toEqual([]);
  });

  it.each([
    ["1 s more than this machine", 51_000, {}, []],
    ["1 s less than this machine", 49_000, {}, []],
    ["more than 1 s more", 51_001, {}, ["warning clock"]],
    ["more than 1 s less", 48_999, {}, ["warning clock"]],
    ["more than 1 s less than when it answered, which it did slowly", 49_500, { answeredAt: 54_000 }, []],
    ["more than 1 s more than when it was asked, and it answered slowly", 54_500, { answeredAt: 54_000 }, []],
    ["more than a slow answer explains", 55_001, { answeredAt: 54_000 }, ["warning clock"]],
    ["what it was here before this machine stepped back by 10 s", 50_000, { answeredAt: 40_000 }, []],
  ])("the time is %s", (_, time, more, findings) => {
    expect(found({ server_time_usec: `${time}000` }, {}, { sentAt: 50_000, answeredAt: 50_000, ...more })).toEqual(
      findings,
    );
  });
});

describe("A server that is asked", () => {
  const redis = withRedis();
  const look = async <Seen>(url: string, how: (send: Send) => Promise<Seen>) => {
    const connection = await nodeRedis({ url }).connect(1_000);
    try {
      return await how((...command) => connection.send(command));
    } finally {
      connection.destroy();
    }
  };
  const rights = (url: string) =>
    look(url, async (send) => checkRights(send, await askServer(send, systemClock), { commands: neededCommands }));

  it.each([
    ["ahead of", "early", -3_600_000],
    ["behind", "late", 3_600_000],
  ])("tells what is not kept, and that its clock is %s ours", async (side, effect, offset) => {
    const clock = { now: () => Date.now() + offset };
    const findings = judge(await look(redis.url, (send) => askServer(send, clock)), {}).filter(notOfVersion);
    expect(findings.map(({ level, code }) => `${level} ${code}`)).toEqual(["warning persistence", "warning clock"]);
    expect(findings[1]?.message.replace(/3(599|600)\d{3}/, "3600000")).toBe(
      `The clock of Redis is 3600000 ms ${side} that of this machine, so what is scheduled with \`at\`, a time by this machine, comes that much too ${effect}. Set both clocks right (NTP), or schedule with \`delay\`.`,
    );
  });

  it("names the commands that the user may not run, where the user may ask", async () => {
    await redis.raw.command("ACL", "SETUSER", "asks", "on", ">pw", "~*", "&*", "+@all", "-zadd", "-hscan");
    await redis.raw.command("ACL", "SETUSER", "asksnot", "on", ">pw", "~*", "&*", "+@all", "-zadd", "-acl");
    const url = (user: string) => redis.url.replace("//", `//${user}:pw@`);
    expect(await rights(url("asks"))).toEqual([
      {
        level: "warning",
        code: "rights",
        message: "The user asks of Redis may not run HSCAN, ZADD: calls that need it fail with misconfigured.",
      },
    ]);
    expect(await rights(url("asksnot"))).toEqual([]);
    expect(await rights(redis.url)).toEqual([]);
  });
});

describe("An engine", () => {
  const redis = withRedis();
  let warnings: ServerWarning[] = [];
  afterEach(() => {
    vi.restoreAllMocks();
    warnings = [];
  });
  const queueOn = (options: RedisEngineOptions) =>
    new Queue<number>("orders", {
      engine: closedAtEnd(redisEngine({ onWarning: (warning) => warnings.push(warning), ...options })),
    });
  const codes = () =>
    warnings
      .filter(notOfVersion)
      .map(({ code }) => code)
      .sort();

  it("tells warnings once, though it has several connections and loses them", async () => {
    await using proxy = await FaultProxy.start(redis.server.port);
    const queue = queueOn({ url: proxy.url });
    // So that both connections look before either has seen.
    proxy.delay(50);
    await Promise.all([queue.schedule(1, { delay: "1h" }), queue.receive()]);
    expect(codes()).toEqual(["persistence"]);
    proxy.cut();
    await Promise.all([queue.counts(), queue.receive()]);
    expect(codes()).toEqual(["persistence"]);
  });

  it("tells once that the clock of this machine is off, though several connections look at one server", async () => {
    const now = Date.now.bind(Date);
    let offset = -3_600_000;
    // No two looks see the clocks equally far apart.
    vi.spyOn(Date, "now").mockImplementation(() => now() + (offset += 10));
    const server = closedAtEnd(await startRedisServer({ aof: true }));
    await using proxy = await FaultProxy.start(server.port);
    const queue = queueOn({ url: proxy.url });
    proxy.delay(50);
    await Promise.all([queue.schedule(1, { delay: "1h" }), queue.receive()]);
    expect(codes()).toEqual(["clock"]);
  });

  it("tells them again of another server behind the address", async () => {
    const server = closedAtEnd(await startRedisServer());
    const queue = queueOn({ url: server.url });
    await queue.schedule(1, { delay: "1h" });
    await server.restart();
    await queue.schedule(1, { delay: "1h" });
    expect(codes()).toEqual(["persistence", "persistence"]);
  });

  it.each([
    [
      "throws",
      () => {
        throw new Error("not heard");
      },
    ],
    ["rejects", () => Promise.reject(new Error("not heard"))],
  ])("goes on when whoever hears of a warning %s, and warns the process of that", async (_, fail: () => unknown) => {
    const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    // An unhandled rejection fails the test run.
    await queueOn({ url: redis.url, onWarning: () => fail() }).schedule(1, { delay: "1h" });
    await expect.poll(() => warn.mock.calls.length).toBeGreaterThan(0);
    for (const call of warn.mock.calls) {
      expect(call).toEqual([
        expect.stringMatching(/^onWarning failed: Error: not heard\n +at /),
        "PunctualListenerError",
      ]);
    }
  });

  it("without a listener warns the process, once a kind", async () => {
    const heard: string[] = [];
    const hear = ({ name, code = "" }: Error & { code?: string }) => heard.push(`${name} ${code}`);
    // As a process that has just begun: other files of this one may have been warned.
    vi.resetModules();
    const begun = await import("../../src/engines/redis/engine.js");
    process.on("warning", hear);
    try {
      for (const _ of [1, 2]) {
        const engine = closedAtEnd(begun.redisEngine({ url: redis.url }));
        await new Queue<number>("orders", { engine }).counts();
      }
      await expect.poll(() => heard).toContain("PunctualWarning PUNCTUAL_PERSISTENCE");
    } finally {
      process.off("warning", hear);
    }
    const ofVersion = "PunctualWarning PUNCTUAL_FLAW";
    expect(heard.filter((one) => one !== ofVersion)).toEqual(["PunctualWarning PUNCTUAL_PERSISTENCE"]);
  });

  it("refuses schedules that too few replicas can confirm, does the rest, and goes on when they are there", async () => {
    const primary = closedAtEnd(await startRedisServer({ args: promptReplication }));
    const queue = queueOn({ url: primary.url, durability: { replicas: 1, timeout: 5_000 } });
    await expect(queue.schedule(1, { delay: 0 })).rejects.toMatchObject({
      code: "misconfigured",
      message: expect.stringContaining("durability wants 1 replicas, and 0 are connected"),
    });
    expect(await queue.counts()).toMatchObject({ due: 0 });
    closedAtEnd(await startRedisServer({ args: ["--replicaof", "127.0.0.1", String(primary.port)] }));
    const scheduled = await eventually("a schedule", async () => queue.schedule(1, { delay: 0 }));
    expect(scheduled.outcome).toBe("scheduled");
  });

  it("stores after a failover what no replica confirms yet, and says so", async () => {
    const primary = closedAtEnd(await startRedisServer({ args: promptReplication }));
    const replica = await startRedisServer({ args: ["--replicaof", "127.0.0.1", String(primary.port)] });
    const queue = queueOn({ url: primary.url, durability: { replicas: 1, timeout: 5_000 } });
    await eventually("a schedule", async () => queue.schedule(1, { delay: "1h" }));
    await replica.stop();
    // What another primary would be: another run, without a replica.
    await primary.restart();
    const other = queue.schedule(2, { delay: "1h" });
    await expect(other).rejects.toMatchObject({ code: "not-confirmed" });
    expect(codes()).toContain("replicas");
  });

  it("refuses to wait for a disk to which nothing is written", async () => {
    await expect(
      queueOn({ url: redis.url, durability: { fsync: true, timeout: 100 } }).schedule(1, { delay: 0 }),
    ).rejects.toMatchObject({ code: "misconfigured", message: expect.stringContaining("Redis 7.0.15") });
  });

  it.skipIf(valkeyServer() === undefined)("the same on Valkey, which could", async () => {
    const server = closedAtEnd(await startRedisServer({ binary: valkeyServer() }));
    await expect(
      queueOn({ url: server.url, durability: { fsync: true, timeout: 100 } }).schedule(1, { delay: 0 }),
    ).rejects.toMatchObject({ code: "misconfigured", message: expect.stringContaining("set appendonly yes") });
  });

  it("works for a user who may not ask", async () => {
    await redis.raw.command("ACL", "SETUSER", "app", "on", ">pw", "~*", "&*", "+@all", "-info", "-config", "-acl");
    await queueOn({ url: redis.url, username: "app", password: "pw" }).schedule(1, { delay: "1h" });
    expect(warnings).toEqual([]);
  });

  it("of which onWarning is no function is refused", () => {
    const onWarning = "log" as unknown as () => void;
    expect(() => redisEngine({ url: redis.url, onWarning })).toThrow('onWarning is "log"; accepted is a function');
  });
});
