import { afterEach, describe, expect, it, vi } from "vitest";
import type { EngineQueue } from "../../src/engine.js";
import { keyExpiryEngine } from "../../src/engines/key-expiry/engine.js";
import { zsetListEngine } from "../../src/engines/zset-list/engine.js";
import { zsetRemoveEngine } from "../../src/engines/zset-remove/engine.js";
import { zsetWatchEngine } from "../../src/engines/zset-watch/engine.js";
import { closedAtEnd } from "../support/closed-at-end.js";
import { withRedis } from "../support/with-redis.js";

const redis = withRedis();
const engines = {
  "zset-remove": zsetRemoveEngine,
  "zset-watch": zsetWatchEngine,
  "zset-list": zsetListEngine,
  "key-expiry": keyExpiryEngine,
};
const lease = 1_000;

afterEach(() => vi.restoreAllMocks());

let claims = 0;

async function claim(queue: EngineQueue) {
  const token = `t-${++claims}`;
  const { messages, leaseUntil } = await queue.claim({ limit: 10, lease, consumer: "c", token, attempts: 5 });
  return messages.map(({ id }) => ({ id, token, leaseUntil }));
}

type Receipts = Awaited<ReturnType<typeof claim>>;
const calls: Record<string, (queue: EngineQueue, receipts: Receipts) => Promise<unknown>> = {
  "the next claim": (queue) => claim(queue),
  "an acknowledgement that is too late": (queue, receipts) => queue.acknowledge(receipts),
  "a retry that is too late": (queue, receipts) => queue.retry(receipts.map((receipt) => ({ ...receipt, delay: 0 }))),
  "a count": (queue) => queue.counts(),
};

describe.each(Object.entries(engines))(
  "What nobody has settled in its lease is given up and told with %s",
  (name, of) => {
    it.each(Object.entries(calls))("by %s", async (what, call) => {
      const dropped: unknown[] = [];
      const queue = closedAtEnd(of({ url: redis.url })).open(what, { onDropped: (one) => dropped.push(one) });
      await queue.schedule(
        ["a", "b"].map((id) => ({ id, payload: Buffer.from(id), due: { delay: 0 }, onDuplicate: "keep" })),
      );
      const receipts = await claim(queue);
      expect(receipts.map(({ id }) => id)).toEqual(["a", "b"]);
      const right = queue.clock.now.bind(queue.clock);
      vi.spyOn(queue.clock, "now").mockImplementation(() => right() + lease);
      await call(queue, receipts);
      expect(dropped).toEqual([{ ids: ["a", "b"], total: 2 }]);
      await claim(queue);
      expect(dropped).toHaveLength(1);
      expect(await redis.raw.text("HGET", `{punctual:${what}}:${name}:state`, "dropped")).toBe("2");
    });
  },
);
