import type { RawRedis } from "./raw-redis.js";

/** How many scripts Redis was asked for, by their digests, since it started or since CONFIG RESETSTAT. */
export async function scriptCalls(raw: RawRedis): Promise<number> {
  const told = String(await raw.text("INFO", "commandstats"));
  return Number(/^cmdstat_evalsha:calls=(\d+)/m.exec(told)?.[1] ?? 0);
}
