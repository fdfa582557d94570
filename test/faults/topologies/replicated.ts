import { rawRedis } from "../../support/raw-redis.js";

/** How long a replica on a busy machine may be behind before a fault is put off no longer, ms. */
const patience = 10_000;

/**
 * Waits until a replica has all that the primary had when this was called. Gives that time, Unix ms: what was confirmed before
 * it, no failover can lose.
 * @param key Any key that the primary serves; one beside it is written.
 */
export async function replicated(primary: string, key: string): Promise<number> {
  const from = Date.now();
  const mark = `${key}:replicated`;
  await using raw = await rawRedis(primary);
  // WAIT is about what its own connection has written.
  await raw.command("SET", mark, 1);
  await raw.command("DEL", mark);
  if ((await raw.command("WAIT", 1, patience)) === 0) throw new Error("the replica is behind, and stays so");
  return from;
}
