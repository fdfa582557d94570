import { describe, expect, it } from "vitest";
import { redisEngine, type RedisEngineOptions } from "../../src/engines/redis/engine.js";
import { Queue } from "../../src/index.js";
import { startRedisServer } from "../../src/testing/redis-server.js";
import { closedAtEnd } from "../support/closed-at-end.js";
import { valkeyServer } from "../support/valkey.js";
import { withRedis } from "../support/with-redis.js";

const hour = { delay: "1h" } as const;
const valkey = valkeyServer();

describe.skipIf(valkey === undefined)("With durability of fsync, on Valkey", () => {
  /** @param policy When Valkey writes to its disk (appendfsync). */
  async function start(policy: string, timeout: number, replicas?: number) {
    const args = ["--appendonly", "yes", "--appendfsync", policy, "--save", ""];
    const server = closedAtEnd(await startRedisServer({ binary: valkey, args }));
    const durability = { fsync: true, timeout, ...(replicas === undefined ? {} : { replicas }) };
    const engine = closedAtEnd(redisEngine({ url: server.url, durability }));
    return { server, queue: new Queue<number>("orders", { engine }) };
  }

  it.each(["always", "everysec"])(
    "and appendfsync %s, a schedule comes back when it is on the disk",
    async (policy) => {
      const { server, queue } = await start(policy, 5_000);
      expect((await queue.schedule(1, { ...hour, id: "a" })).outcome).toBe("scheduled");
      await server.kill();
      await server.restart();
      expect(await queue.get("a")).toMatchObject({ id: "a", payload: 1 });
    },
  );

  it("and appendfsync no, it fails: that is left to the system, and nobody knows when", async () => {
    const { queue } = await start("no", 100);
    await expect(queue.schedule(1, { ...hour, id: "a" })).rejects.toMatchObject({
      code: "not-confirmed",
      message: expect.stringContaining("stored, and Redis did not confirm them to be on its disk within 100 ms"),
      details: { results: [{ id: "a", outcome: "scheduled" }] },
    });
  });
});

describe("With durability of fsync, on Redis below 7.2", () => {
  const redis = withRedis({ aof: true });

  it("a schedule is refused", async () => {
    const engine = closedAtEnd(redisEngine({ url: redis.url, durability: { fsync: true, timeout: 100 } }));
    await expect(new Queue<number>("orders", { engine }).schedule(1, hour)).rejects.toMatchObject({
      code: "misconfigured",
    });
  });
});

describe("The option durability", () => {
  const redis = withRedis();

  it.each([
    [{ timeout: 1 }, "durability has neither replicas nor fsync"],
    [{ replicas: 0, timeout: 1 }, "durability.replicas is 0"],
    [{ replicas: 1, timeout: 0 }, "durability.timeout is 0; accepted is 1 ms to 10 s"],
    [{ replicas: 1, timeout: "11s" }, 'durability.timeout is "11s"; accepted is 1 ms to 10 s'],
    [{ replicas: 1 }, "durability.timeout is undefined"],
    [{ fsync: 1, timeout: 1 }, "durability.fsync is 1; accepted is true or false"],
    [{ replica: 1, timeout: 1 }, 'durability has no option "replica". Did you mean "replicas"?'],
  ])("of %j is refused", (durability, message) => {
    const options = { url: redis.url, durability } as unknown as RedisEngineOptions;
    expect(() => redisEngine(options)).toThrow(
      expect.objectContaining({ code: "invalid-argument", message: expect.stringContaining(message) }),
    );
  });
});
