import { describe, expect, it } from "vitest";
import { redisEngine } from "../../src/engines/redis/engine.js";
import { neededCommands } from "../../src/engines/redis/rights.js";
import { PunctualError, Queue } from "../../src/index.js";
import { startRedisServer } from "../../src/testing/redis-server.js";
import { closedAtEnd } from "../support/closed-at-end.js";
import { rawRedis } from "../support/raw-redis.js";
import { valkeyServer } from "../support/valkey.js";

/** An error for want of a right names the command, though Redis before 7.2 says no more than in which line of a script it stands. */

const calls: Record<string, (queue: Queue<string>) => Promise<unknown>> = {
  schedule: (queue) => queue.schedule("new", { delay: "1h" }),
  "schedule that replaces": (queue) => queue.schedule("new", { id: "far", delay: "2h", onDuplicate: "replace" }),
  reschedule: (queue) => queue.reschedule("far", { delay: "2h" }),
  cancel: (queue) => queue.cancel("far"),
  counts: (queue) => queue.counts(),
  list: (queue) => queue.list({ state: "scheduled" }),
  get: (queue) => queue.get("far"),
  pause: (queue) => queue.pause(),
  receive: (queue) => queue.receive(),
};

async function deniedOn(binary: string | undefined): Promise<{ told: string[]; unnamed: string[] }> {
  const server = closedAtEnd(await startRedisServer(binary === undefined ? {} : { binary }));
  await using raw = await rawRedis(server.url);
  const told: string[] = [];
  const unnamed: string[] = [];
  for (const command of new Set(neededCommands.map(([name = ""]) => name))) {
    await raw.command("ACL", "SETUSER", "app", "reset", "on", ">pw", "~*", "&*", "+@all", `-${command}`);
    const login = { username: "app", password: "pw" };
    const open = (more: object = {}) =>
      new Queue<string>("orders", {
        engine: closedAtEnd(redisEngine({ url: server.url, onWarning: () => {}, ...more })),
      });
    const [owner, denied] = [open(), open(login)];
    for (const [name, call] of Object.entries(calls)) {
      await raw.command("FLUSHALL");
      for (const [id, delay] of Object.entries({ far: "1h", due: 0 } as const))
        await owner.schedule("old", { id, delay });
      const failure: unknown = await call(denied).catch((error: unknown) => error);
      if (!(failure instanceof PunctualError)) continue;
      const what = `${name} without ${command}`;
      if (failure.message.includes(`he user of Redis lacks the right to run ${command}`)) told.push(what);
      else unnamed.push(`${what}: ${failure.message}`);
    }
  }
  return { told, unnamed };
}

const some = ["schedule without EVALSHA", "schedule without TIME", "schedule without ZADD", "counts without ZCARD"];

describe("What fails for want of a right names the command", () => {
  it("of the Redis on this machine", async () => {
    const { told, unnamed } = await deniedOn(undefined);
    expect(told).toEqual(expect.arrayContaining(some));
    // With many values it stands in a function that several commands share.
    expect(unnamed.filter((one) => !/^schedule.* without HSET/.test(one))).toEqual([]);
  }, 60_000);

  it.skipIf(valkeyServer() === undefined)(
    "of Valkey",
    async () => {
      const { told, unnamed } = await deniedOn(valkeyServer());
      expect(told).toEqual(expect.arrayContaining([...some, "schedule without HSET"]));
      expect(unnamed).toEqual([]);
    },
    60_000,
  );
});
