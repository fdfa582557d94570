import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { redisEngine } from "../../../src/engines/redis/engine.js";
import { queueKeys } from "../../../src/engines/redis/keys.js";
import { binaryCodec, type Engine, Queue } from "../../../src/index.js";
import { withRedis } from "../../support/with-redis.js";

/** What a queue takes of the memory of Redis, and what of it stays. */

const redis = withRedis();
let engine: Engine;
let queue: Queue<Uint8Array>;
let name: string;
let queues = 0;
beforeEach(() => {
  engine = redisEngine({ url: redis.url });
  name = `stored-${++queues}`;
  queue = new Queue<Uint8Array>(name, { engine, codec: binaryCodec() });
});
afterEach(() => engine.close());

const bytes = 100_000;
/** Any bytes, also such as are no text. */
const payload = Uint8Array.from({ length: bytes }, (_, n) => (n * 31) % 256);

/** The keys of the queue that there are. */
async function keys(): Promise<string[]> {
  const found = await Promise.all(
    Object.values(queueKeys("punctual", name)).map(
      async (key) => [key, await redis.raw.command("EXISTS", key)] as const,
    ),
  );
  return found.flatMap(([key, exists]) => (exists === 1 ? [key] : []));
}

/** Has all that is due handled: one in two fails, and is retried later. */
async function handled(count: number): Promise<void> {
  let left = count;
  await new Promise<void>((resolve) => {
    const consumer = queue.consume(
      async ({ attempt, id }) => {
        if (attempt === 1 && id.endsWith("1")) throw new Error("as planned");
      },
      { retry: { backoff: () => 10 }, concurrency: 20 },
    );
    consumer.on("acknowledged", () => {
      left -= 1;
      if (left === 0) void consumer.close().then(resolve);
    });
  });
}

describe("A queue in Redis", () => {
  it("stores the bytes of a payload with less than one in a hundred beside them", async () => {
    await queue.schedule(payload, { id: "m", delay: "1h" });
    const stored = Number(await redis.raw.command("HSTRLEN", queueKeys("punctual", name).messages, "m"));
    expect(stored).toBeGreaterThanOrEqual(bytes);
    expect(stored).toBeLessThan(1.01 * bytes);
  });

  it("keeps nothing of 40 large messages when they are done, however often they failed: no payload, no error, no result", async () => {
    const ids = Array.from({ length: 40 }, (_, n) => `m${n % 2}-${n}-${n % 2}`);
    await queue.scheduleMany(ids.map((id) => ({ payload, id, delay: 0 })));
    await handled(ids.length);
    const { state } = queueKeys("punctual", name);
    expect(await keys()).toEqual([state]);
    expect(Number(await redis.raw.command("MEMORY", "USAGE", state))).toBeLessThan(1_000);
  });

  it("has no key that ends by itself, in whatever state its messages are", async () => {
    const remembering = new Queue<Uint8Array>(name, { engine, codec: binaryCodec(), rememberFor: "1s" });
    await remembering.scheduleMany(
      ["far", "gone", "held", "buried", "failed"].map((id) => ({ payload, id, delay: id === "far" ? "1h" : 0 })),
    );
    for (const message of await remembering.receive({ max: 10, lease: "1s" })) {
      if (message.id === "gone") await message.acknowledge();
      if (message.id === "buried") await message.bury("as planned");
      if (message.id === "failed") await message.retry({ delay: "1h", error: new Error("as planned") });
    }
    const there = await keys();
    expect(there.length).toBeGreaterThan(6);
    for (const key of there) expect([key, await redis.raw.command("PTTL", key)]).toEqual([key, -1]);
  });
});
