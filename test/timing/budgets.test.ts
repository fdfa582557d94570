import { constants, setPriority } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { ClaimResult, Engine, EngineQueue, Receipt } from "../../src/engine.js";
import { redisEngine } from "../../src/engines/redis/engine.js";
import { withRedis } from "../support/with-redis.js";

/** Bounded server work: no script takes over 5 ms with payloads up to 1 KiB, however many messages there are. */

const redis = withRedis();
let engine: Engine;
beforeAll(async () => {
  try {
    // The server's clock runs on while others have its processor.
    setPriority(redis.server.pid, constants.priority.PRIORITY_HIGHEST);
  } catch {
    // Only root may.
  }
  engine = redisEngine({ url: redis.url });
  await redis.raw.command("CONFIG", "SET", "slowlog-log-slower-than", 0, "slowlog-max-len", 100_000);
});
afterAll(() => engine.close());
beforeEach(async () => {
  await redis.raw.command("SLOWLOG", "RESET");
});

/** Takes under 1 ms of a server on a quiet machine, and all the more the busier the machine is. */
const yardstick = "local t = {} for i = 1, 1000 do t[i] = string.sub('abcdefghijk' .. i, 3) end return #t";

/** Scripts at most that anything may hold up on a machine that is quiet otherwise, of 1,000: an interrupt, a page of memory. */
const heldUp = 2;

/**
 * How long scripts took, ms. On a quiet machine: all of them, but for the few that were held up. On any: what 95 in 100 did
 * not exceed, measured against a machine on which the yardstick takes 1 ms: the server's clock runs on while others have its
 * processor, and the yardstick, which ran in between, was held up as much.
 */
async function longest(): Promise<number> {
  const log = (await redis.raw.text("SLOWLOG", "GET", -1)) as [number, number, number, string[]][];
  const timesOf = (name: string) => {
    const times = log.filter(([, , , [command]]) => command === name).map(([, , micros]) => micros / 1_000);
    expect(times.length).toBeGreaterThan(20);
    return times.toSorted((one, other) => other - one);
  };
  const [scripts, yardsticks] = [timesOf("EVALSHA"), timesOf("EVAL")];
  const usual = (times: number[]) => times[Math.floor(times.length * 0.05)] ?? Infinity;
  const isQuiet = (yardsticks[0] ?? Infinity) < 1;
  const slowest = scripts[Math.ceil((scripts.length * heldUp) / 1_000)] ?? Infinity;
  return Math.max(usual(scripts) / Math.max(1, usual(yardsticks)), isQuiet ? slowest : 0);
}

async function schedule(queue: EngineQueue, count: number, bytes: number): Promise<void> {
  const payload = Buffer.alloc(bytes, "x");
  await queue.schedule(
    Array.from({ length: count }, (_, n) => ({
      id: `m${n}`,
      payload,
      due: { delay: 0 },
      onDuplicate: "keep" as const,
    })),
  );
}

/** Claims until nothing more is due. */
async function* claims(
  queue: EngineQueue,
  lease = 60_000,
): AsyncGenerator<{ claim: ClaimResult; receipts: Receipt[] }> {
  for (let n = 0; ; n++) {
    const token = `${lease}-${n}`;
    await redis.raw.command("EVAL", yardstick, 0);
    const claim = await queue.claim({ limit: 1_000, lease, consumer: "c", token, attempts: 5 });
    yield { claim, receipts: claim.messages.map(({ id }) => ({ id, token, leaseUntil: claim.leaseUntil })) };
    if (claim.nextAt > claim.now) return;
  }
}

describe("No call makes Redis work for more than 5 ms", () => {
  it("with 100,000 messages due at once, from schedule to acknowledge", async () => {
    const queue = engine.open("due");
    await schedule(queue, 100_000, 94);
    let taken = 0;
    for await (const { claim, receipts } of claims(queue)) {
      expect(claim.messages.length).toBeLessThanOrEqual(1_000);
      taken += claim.messages.length;
      await queue.acknowledge(receipts);
    }
    expect(taken).toBe(100_000);
    expect(await longest()).toBeLessThan(5);
  }, 60_000);

  it("with 20,000 leases that end at once", async () => {
    const queue = engine.open("ended");
    await schedule(queue, 20_000, 94);
    for await (const _ of claims(queue, 1_000));
    await sleep(1_000);
    let taken = 0;
    await redis.raw.command("SLOWLOG", "RESET");
    for await (const { claim } of claims(queue)) taken += claim.messages.length;
    expect(taken).toBe(20_000);
    expect(await longest()).toBeLessThan(5);
  }, 60_000);

  it("with 20,000 payloads of 1 KiB", async () => {
    const queue = engine.open("kib");
    await schedule(queue, 20_000, 1_024);
    for await (const { receipts } of claims(queue)) await queue.acknowledge(receipts);
    expect(await longest()).toBeLessThan(5);
  }, 60_000);

  it("or about 1 MiB, with 300 payloads of 1 MiB", async () => {
    const queue = engine.open("mib");
    await schedule(queue, 300, 1 << 20);
    let taken = 0;
    for await (const { claim, receipts } of claims(queue)) {
      expect(claim.messages).toHaveLength(1);
      taken += 1;
      await queue.acknowledge(receipts);
    }
    expect(taken).toBe(300);
    // The promise of 5 ms is for payloads up to 1 KiB; this is what moving 1 MiB takes.
    expect(await longest()).toBeLessThan(10);
  }, 60_000);
});
