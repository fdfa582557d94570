import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { EngineQueue } from "../../../src/engine.js";
import { zsetListEngine } from "../../../src/engines/zset-list/engine.js";
import { newMessage } from "../../../src/testing/conformance/stage.js";
import { type ClusterNode, startClusterNode } from "../../support/topologies/cluster-node.js";
import { withRedis } from "../../support/with-redis.js";

const redis = withRedis();
const ids = (count: number) => Array.from({ length: count }, (_, index) => `m-${index}`);

/** Schedules, moves, claims, fails, buries, and blocks, so that every key comes to be. */
async function live(queue: EngineQueue, count: number): Promise<void> {
  await queue.schedule(ids(count).map((id) => newMessage(id)));
  await queue.schedule([newMessage("later", { due: { delay: 3_600_000 } })]);
  for (let settled = 0, round = 0; settled < count; round++) {
    const token = `token-${round}`;
    const { messages } = await queue.claim({ limit: 40, lease: 10_000, consumer: "worker", token, attempts: 5 });
    const receipts = messages.map(({ id }) => ({ id, token, leaseUntil: 0 }));
    const [first, second, ...rest] = receipts;
    if (round === 0 && first && second) {
      await queue.retry([{ ...first, delay: 0, error: { name: "Error", message: "again" } }]);
      await queue.bury([{ ...second, reason: "poison" }]);
      settled += 1 + (await queue.acknowledge(rest)).length;
    } else settled += (await queue.acknowledge(receipts)).length;
  }
}

describe.each([false, true])("The keys of a queue, reliable: %s,", (reliable) => {
  let node: ClusterNode;
  beforeAll(async () => {
    node = await startClusterNode({});
    await node.ask("CLUSTER", "ADDSLOTSRANGE", 0, 16_383);
    await vi.waitFor(async () => {
      const about = String(await node.ask("CLUSTER", "INFO"));
      if (!about.includes("cluster_state:ok")) throw new Error(about);
    }, 5_000);
  });
  afterAll(() => node.server.stop());

  it("lie in one slot of a Cluster.", async () => {
    const engine = zsetListEngine({ url: node.server.url, reliable });
    const queue = engine.open("orders");
    await live(queue, 600);
    await queue.schedule(["x", "y"].map((id) => newMessage(id)));
    await queue.claim({ limit: 1, lease: 10_000, consumer: "worker", token: "last", attempts: 5 });
    if (reliable) {
      const base = "{punctual:orders}:zset-list:reliable";
      await node.ask("LPUSH", `${base}:hand:worker`, "x");
      await node.ask("ZADD", `${base}:hands`, 1, "worker");
    }
    const keys = await node.ask("KEYS", "*");
    expect(Array.isArray(keys) ? keys.length : 0).toBeGreaterThan(3);
    const slots = new Set<unknown>();
    for (const key of Array.isArray(keys) ? keys : []) slots.add(await node.ask("CLUSTER", "KEYSLOT", String(key)));
    expect([...slots]).toHaveLength(1);
    await engine.close();
  });

  it("do not grow: of 2,000 messages that came and went nothing is left but who claimed.", async () => {
    const engine = zsetListEngine({ url: redis.url, reliable });
    const name = `growth-${reliable}`;
    const queue = engine.open(name);
    await live(queue, 2_000);
    await queue.purge("waiting");
    if (reliable) await queue.purge("dead");
    const base = `{punctual:${name}}:zset-list${reliable ? ":reliable" : ""}:`;
    const left = await redis.raw.text("KEYS", `${base}*`);
    expect((Array.isArray(left) ? left : []).map((key) => String(key).slice(base.length)).toSorted()).toEqual([
      "claims",
      "state",
    ]);
    await engine.close();
  });

  it("forget consumers that were killed more than a minute ago, when another one comes.", async () => {
    const engine = zsetListEngine({ url: redis.url, reliable });
    const name = `killed-${reliable}`;
    const queue = engine.open(name);
    const claims = `{punctual:${name}}:zset-list${reliable ? ":reliable" : ""}:claims`;
    // Behind an order, in the reliable kind.
    const [before, behind] = reliable ? ["1 ", " 9 token"] : ["", " token"];
    const entry = (at: number) => `${before}${at}${behind}`;
    await redis.raw.command("HSET", claims, "killed", entry(Date.now() - 61_000), "alive", entry(Date.now()));
    await queue.claim({ limit: 1, lease: 1_000, consumer: "new", token: "t", attempts: 5 });
    expect(await redis.raw.text("HKEYS", claims)).toEqual(expect.arrayContaining(["alive", "new"]));
    expect(await redis.raw.command("HEXISTS", claims, "killed")).toBe(0);
    await engine.close();
  });
});
