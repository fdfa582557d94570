import { expect, it } from "vitest";
import { groupKeys, sharedKeys } from "../../../src/engines/zset-stream/keys.js";
import { zsetStreamEngine } from "../../../src/engines/zset-stream/engine.js";
import { closedAtEnd } from "../../support/closed-at-end.js";
import { withRedis } from "../../support/with-redis.js";

const cluster = withRedis({ args: ["--cluster-enabled", "yes"] });
const redis = withRedis();

it("All keys of a queue lie in one slot, whatever the groups are called", async () => {
  const base = "{punctual:orders}:zset-stream";
  const keys = [sharedKeys(base), groupKeys(base, "punctual"), groupKeys(base, "a.b_c-d")].flatMap(Object.values);
  const slots = await Promise.all(keys.map((one) => cluster.raw.command("CLUSTER", "KEYSLOT", one)));
  expect(new Set(slots)).toEqual(new Set([await cluster.raw.command("CLUSTER", "KEYSLOT", "punctual:orders")]));
});

it("An engine uses no other keys", async () => {
  const queues = ["punctual", "stats"].map((group) =>
    closedAtEnd(zsetStreamEngine({ url: redis.url, group })).open("orders", { rememberFor: 60_000 }),
  );
  for (const [round, queue] of [...queues, ...queues].entries()) {
    const consumer = `consumer-${round}`;
    await queue.claim({ limit: 10, lease: 60_000, consumer, token: `first-${round}`, attempts: 2 });
    const messages = Array.from({ length: 5 }, (_, index) => ({
      id: `m-${round}-${index}`,
      payload: Buffer.from("payload"),
      due: { delay: 0 },
      onDuplicate: "keep" as const,
    }));
    await queue.schedule([...messages, { ...messages[0]!, id: `later-${round}`, due: { delay: 60_000 } }]);
    const { messages: taken, leaseUntil } = await queue.claim({
      limit: 10,
      lease: 60_000,
      consumer,
      token: `second-${round}`,
      attempts: 2,
    });
    const [a, b, c] = taken.map(({ id }) => ({ id, token: `second-${round}`, leaseUntil }));
    await queue.acknowledge([a!]);
    await queue.retry([{ ...b!, delay: 60_000, error: { name: "Error", message: "no" } }]);
    await queue.bury([{ ...c!, reason: "poison" }]);
    await queue.cancel([`later-${round}`]);
  }
  const base = "{punctual:orders}:zset-stream";
  const known = [sharedKeys(base), groupKeys(base, "punctual"), groupKeys(base, "stats")].flatMap(Object.values);
  const used = (await redis.raw.text("KEYS", "*")) as string[];
  expect(used.filter((one) => !known.includes(one))).toEqual([]);
  expect(used.length).toBeGreaterThan(12);
});
