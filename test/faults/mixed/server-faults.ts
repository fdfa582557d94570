import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "../../../demo/seeded-random.js";
import type { RedisServer } from "../../../src/testing/redis-server.js";
import { type RawRedis, rawRedis } from "../../support/raw-redis.js";
import { type Fault, fault, silence } from "./fault.js";
import { load } from "./loading.js";
import { login } from "./login.js";

/** Far below what it uses: Redis measures that only now and then. */
const memoryLimit = 100_000;

/** A server that has the queue, or a part of it, and a key of that. */
export interface Place {
  readonly server: RedisServer;
  readonly key: string;
}

/** What can befall a server that goes on afterwards with all that it had, wherever the queue is now. */
export function serverFaults(place: (random: Random) => Promise<Place>): Fault[] {
  const asked = (name: string, ask: (raw: RawRedis, random: Random) => Promise<unknown>) =>
    fault(name, async (random) => {
      await using raw = await rawRedis((await place(random)).server.url);
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
      await raw.command("ACL", "SETUSER", login.username, "-evalsha", "-eval");
      await sleep(500 + random() * 2_000);
      await raw.command("ACL", "SETUSER", login.username, "+@all");
    }),
    fault("loading", async (random) => {
      const { server, key } = await place(random);
      await load(server.url, key, random);
    }),
  ];
}

/** What can befall a server that is alone and keeps each write on its disk. */
export function loneServerFaults(server: RedisServer): Fault[] {
  return [
    silence(
      "server killed",
      () => server.kill(),
      () => server.restart(),
    ),
    fault("server restarted", () => server.restart()),
    silence(
      "server frozen",
      () => server.pause(),
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
