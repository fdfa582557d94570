import type { RawRedis } from "./raw-redis.js";

/**
 * How long the processor worked for the main thread of Redis so far, ms. Unlike the time that passes, which SLOWLOG and LATENCY
 * tell, it stands still while others have the processor.
 */
export async function workOf(raw: RawRedis): Promise<number> {
  const info = String(await raw.text("INFO", "cpu"));
  const value = (name: string) => Number(new RegExp(`^${name}:([\\d.]+)`, "m").exec(info)?.[1] ?? 0);
  // Where the main thread cannot be told from others, all of them count.
  const seconds = (of: string) => value(`used_cpu_${of}_main_thread`) || value(`used_cpu_${of}`);
  return (seconds("user") + seconds("sys")) * 1_000;
}
