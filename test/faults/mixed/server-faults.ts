import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "../../../demo/seeded-random.js";
import type { RedisServer } from "../../../src/testing/redis-server.js";
import { type RawRedis, rawRedis } from "../../support/raw-redis.js";
import { type Fault, fault, lasting, silence } from "./fault.js";

/** Far below what it uses: Redis measures that only now and then. */
const memoryLimit = 100_000;

/** What can befall a server that goes on afterwards with all that it had, wherever the queue is now. */
export function serverFaults(server: (random: Random) => Promise<RedisServer>): Fault[] {
  const asked = (name: string, ask: (raw: RawRedis, random: Random) => Promise<unknown>) =>
    fault(name, async (random) => {
      await using raw = await rawRedis((await server(random)).url);
      await ask(raw, random);
    });
  return [
    asked("connections of clients killed", (raw) => raw.command("CLIENT", "KILL", "TYPE", "normal")),
    asked("connections of subscribers killed", (raw) => raw.command("CLIENT", "KILL", "TYPE", "pubsub")),
    asked("writes paused", async (raw, random) => {
      const lasts = Math.round(500 + random() * 2_500);
      await raw.command("CLIENT", "PAUSE", lasts, "WRITE");
      await sleep(lasts);
    }),
    asked("scripts flushed", async (raw) => {
      for (let n = 0; n < 10; n++) {
        await raw.command("SCRIPT", "FLUSH");
        await sleep(100);
      }
    }),
    asked("slow script", async (raw, random) => {
      await raw.command("CONFIG", "SET", "lua-time-limit", 100);
      const until = `local t = redis.call("TIME") local s = t[1] + t[2] / 1e6 + ARGV[1]
        repeat t = redis.call("TIME") until t[1] + t[2] / 1e6 > s`;
      await raw.command("EVAL", until, 0, (0.5 + random() * 1.5).toFixed(3));
    }),
    asked("memory limit", async (raw, random) => {
      await raw.command("CONFIG", "SET", "maxmemory", memoryLimit);
      await sleep(500 + random() * 2_000);
      await raw.command("CONFIG", "SET", "maxmemory", 0);
    }),
    asked("right taken away", async (raw, random) => {
      await raw.command("ACL", "SETUSER", "default", "-evalsha", "-eval");
      await sleep(500 + random() * 2_000);
      await raw.command("ACL", "SETUSER", "default", "+@all");
    }),
  ];
}

/** What can befall a server that is alone and keeps each write on its disk. */
export function loneServerFaults(server: RedisServer): Fault[] {
  const waiting = (random: Random) => sleep(lasting(random));
  return [
    silence(
      "server killed",
      () => server.kill(),
      waiting,
      () => server.restart(),
    ),
    fault("server restarted", () => server.restart()),
    silence(
      "server frozen",
      () => server.pause(),
      waiting,
      () => server.continue(),
    ),
    fault("server demoted", async (random) => {
      await using raw = await rawRedis(server.url);
      // There is no server with this port, so it keeps what it has.
      await raw.command("REPLICAOF", "127.0.0.1", 1);
      await sleep(500 + random() * 2_000);
      await raw.command("REPLICAOF", "NO", "ONE");
    }),
  ];
}
