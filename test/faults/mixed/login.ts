import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "../../../demo/seeded-random.js";
import type { RedisServer } from "../../../src/testing/redis-server.js";
import { rawRedis } from "../../support/raw-redis.js";
import type { Fault } from "./fault.js";

/** As whom producers and consumers log in. Servers and tests are the default user, whom nothing befalls. */
export const login = { username: "worker", password: "right" };
/** Arguments for a server that knows them. */
export const loginArgs = ["--user", login.username, "on", `>${login.password}`, "~*", "&*", "+@all"];

/**
 * Within which time a refused login is told, ms: servers answer at once, and consumers try again each second; a machine that does
 * much else takes 2 s more.
 */
const noticedWithin = 3_000;

/** Nobody can log in any more, for longer than that takes to be noticed. */
export function passwordChanged(servers: readonly RedisServer[]): Fault {
  const everywhere = async (...command: readonly string[]) => {
    for (const { url } of servers) {
      await using raw = await rawRedis(url);
      await raw.command(...command);
    }
  };
  const set = (password: string) => everywhere("ACL", "SETUSER", login.username, "resetpass", `>${password}`);
  return {
    name: "password changed",
    async strike(random: Random) {
      await set("other");
      await everywhere("CLIENT", "KILL", "USER", login.username);
      const from = Date.now();
      await sleep(noticedWithin + 500 + random() * 1_000);
      const to = Date.now();
      await set(login.password);
      return { healedAt: Date.now(), outage: { from, to, noticedWithin } };
    },
  };
}
