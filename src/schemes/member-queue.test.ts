import { afterEach, describe, expect, it } from "vitest";
import { closedAtEnd } from "../../test/support/closed-at-end.js";
import { withRedis } from "../../test/support/with-redis.js";
import type { NewMessage } from "../engine.js";
import { zsetListEngine } from "../engines/zset-list/engine.js";
import { zsetRemoveEngine } from "../engines/zset-remove/engine.js";
import { zsetWatchEngine } from "../engines/zset-watch/engine.js";
import { Queue } from "../queue.js";

const redis = withRedis();
afterEach(() => redis.raw.command("FLUSHALL"));

function message(id: string, options: Partial<NewMessage> = {}): NewMessage {
  return { id, payload: Buffer.from(id), due: { delay: 0 }, onDuplicate: "keep", ...options };
}

describe.each([
  ["zset-remove", zsetRemoveEngine],
  ["zset-watch", zsetWatchEngine],
  ["zset-list", zsetListEngine],
] as const)("A queue of %s", (name, makeEngine) => {
  const engine = () => closedAtEnd(makeEngine({ url: redis.url }));

  it("stores what it can of the calls of one tick, and refuses only the one that asks for a replacement", async () => {
    const queue = new Queue("q", { engine: engine() });
    const calls = await Promise.allSettled([
      queue.schedule(1, { id: "a", delay: 60_000 }),
      queue.schedule(2, { id: "x", delay: 60_000, onDuplicate: "replace" }),
      queue.schedule(3, { id: "b", delay: 60_000 }),
    ]);
    expect(calls).toMatchObject([
      { status: "fulfilled", value: { id: "a", outcome: "scheduled" } },
      { status: "rejected", reason: { code: "unsupported" } },
      { status: "fulfilled", value: { id: "b", outcome: "scheduled" } },
    ]);
    expect((await queue.counts()).scheduled).toBe(2);
  });

  it("forgets consumers that were killed more than a minute ago when another one comes, and none that goes on claiming", async () => {
    const queue = engine().open("q");
    const claims = `{punctual:q}:${name}:claims`;
    const claim = (consumer: string) =>
      queue.claim({ limit: 1, lease: 1_000, consumer, token: consumer, attempts: 5, returns: true });
    await claim("alive");
    const before = `${Date.now() - 61_000}`;
    await redis.raw.command("HSET", claims, "killed", before, "alive", before);
    await claim("alive");
    await claim("new");
    expect((await redis.raw.text("HKEYS", claims)) as string[]).toEqual(["alive", "new"]);
  });

  it("reads about 1 MiB for a claim, also of large messages behind small ones, and forgets the large ones with them", async () => {
    const queue = engine().open("q");
    const at = Date.now();
    const biggest = async () => Number(await redis.raw.text("HGET", `{punctual:q}:${name}:state`, "biggest"));
    const take = async () => {
      const request = { limit: 10, lease: 1_000, consumer: "c", token: `${Math.random()}`, attempts: 5 };
      return (await queue.claim(request)).messages.length;
    };
    const small = Array.from({ length: 40 }, (_, index) => message(`small ${index}`, { due: { at: at - 1_000 } }));
    await queue.schedule(small);
    for (let claims = 0; claims < 4; claims++) expect(await take()).toBe(10);
    const payload = Buffer.alloc(500_000);
    await queue.schedule(["a", "b", "c", "d", "e"].map((id) => message(id, { payload, due: { at } })));
    const sent = async () =>
      Number(/total_net_output_bytes:(\d+)/.exec(String(await redis.raw.text("INFO", "stats")))?.[1]);
    const before = await sent();
    expect(await take()).toBe(2);
    expect((await sent()) - before).toBeLessThan(1_200_000);
    expect(await biggest()).toBeGreaterThan(500_000);
    while ((await take()) > 0);
    await queue.schedule([message("small again")]);
    expect(await biggest()).toBeLessThan(100);
  });

  it("counts no message as leased whose lease is over", async () => {
    const queue = engine().open("q");
    await queue.schedule([message("a"), message("b")]);
    await queue.claim({ limit: 1, lease: 60_000, consumer: "c", token: "long", attempts: 5 });
    const { leaseUntil } = await queue.claim({ limit: 1, lease: 100, consumer: "d", token: "short", attempts: 5 });
    expect((await queue.counts()).leased).toBe(2);
    await new Promise<void>((resolve) => queue.clock.runAt(leaseUntil, resolve));
    expect((await queue.counts()).leased).toBe(1);
  });

  it("tells of a batch with a replacement what was stored", async () => {
    const batch = [message("x", { onDuplicate: "replace" }), message("a"), message("a"), message("b")];
    await expect(engine().open("q").schedule(batch)).rejects.toMatchObject({
      code: "unsupported",
      details: {
        operation: "schedule",
        results: [undefined, { outcome: "scheduled" }, { outcome: "duplicate" }, { outcome: "scheduled" }],
      },
    });
  });
});
