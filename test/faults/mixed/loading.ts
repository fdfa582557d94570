import { randomBytes } from "node:crypto";
import type { Random } from "../../../demo/seeded-random.js";
import { rawRedis } from "../../support/raw-redis.js";
import { eventually } from "../../support/topologies/eventually.js";
import { login } from "./login.js";

/** For a server that is to load: it takes no DEBUG otherwise. */
export const loadingArgs = ["--enable-debug-command", "local"];

/** How long each key takes to load, ms. In between the server answers. */
const perKey = 5;

/**
 * Has a server load all that it has anew, for one to two seconds, in which it answers LOADING. A server that starts does the
 * same; this one loses nothing, whether it writes to its disk or not.
 * @param key Any key that it serves; those that make the loading last are made beside it.
 */
export async function load(url: string, key: string, random: Random): Promise<void> {
  const keys = Math.round((1_000 + random() * 1_000) / perKey);
  const cut = random() < 0.5;
  await using raw = await rawRedis(url);
  await using beside = await rawRedis(url);
  // No two alike for the one that compresses them: it answers after each KiB.
  const make = `for n = 1, ARGV[1] do redis.call("SET", KEYS[1] .. ":load:" .. n, ARGV[2]) end`;
  const remove = `for n = 1, ARGV[1] do redis.call("DEL", KEYS[1] .. ":load:" .. n) end`;
  // Whoever comes back meets it, too, as after a start.
  const cutOff = async () => {
    const isLoading = async () => String(await beside.text("INFO", "persistence")).includes("loading:1") || undefined;
    await eventually("a server that loads", isLoading);
    await beside.command("CLIENT", "KILL", "USER", login.username);
  };
  try {
    await raw.command("EVAL", make, 1, key, keys, randomBytes(1_024));
    await raw.command(
      "CONFIG",
      "SET",
      "loading-process-events-interval-bytes",
      1_024,
      "key-load-delay",
      perKey * 1_000,
    );
    const over = await Promise.allSettled([raw.command("DEBUG", "RELOAD"), ...(cut ? [cutOff()] : [])]);
    for (const one of over) if (one.status === "rejected") throw one.reason;
  } finally {
    // By now it has loaded, or never will.
    await raw.command("CONFIG", "SET", "key-load-delay", 0);
    await raw.command("EVAL", remove, 1, key, keys);
  }
}
