import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { redisEngine } from "../../src/engines/redis/engine.js";
import { Queue } from "../../src/index.js";
import { closedAtEnd } from "../support/closed-at-end.js";
import type { ClusterNode } from "../support/topologies/cluster-node.js";
import { ClusterServers } from "../support/topologies/cluster-servers.js";

/** In a Cluster each partition has a primary of its own, and waits for the replicas of that. */

const partitions = 6;
const places = Array.from({ length: partitions }, (_, place) => place);
let cluster: ClusterServers;
let frozen: ClusterNode | undefined;
beforeAll(async () => {
  cluster = await ClusterServers.start({ replicas: true });
}, 60_000);
afterEach(() => frozen?.server.continue());
afterAll(() => cluster[Symbol.asyncDispose]());

it("a schedule is confirmed by the replicas of all partitions, and a stopped one fails what lies behind its primary", async () => {
  const engine = closedAtEnd(
    redisEngine({ nodes: cluster.urls, partitions, durability: { replicas: 1, timeout: 300 } }),
  );
  const queue = new Queue<number>("orders", { engine });
  const messages = (prefix: string) =>
    Array.from({ length: 60 }, (_, n) => ({ payload: n, id: `${prefix}-${n}`, delay: "1h" }));
  expect(new Set((await queue.scheduleMany(messages("a"))).map(({ outcome }) => outcome))).toEqual(
    new Set(["scheduled"]),
  );

  const slots = await Promise.all(places.map((place) => cluster.slotOf(`{punctual:orders/${place}}:state`)));
  const primary = await cluster.primaryOf(slots[0] ?? 0);
  const [replica] = (await primary.ask("CLUSTER", "REPLICAS", primary.id)) as string[];
  frozen = cluster.nodes.find(({ id }) => replica?.startsWith(id));
  frozen?.server.pause();

  await expect(queue.scheduleMany(messages("b"))).rejects.toMatchObject({
    code: "not-confirmed",
    message: expect.stringContaining("0 of 1 replicas confirmed them within 300 ms"),
    details: { results: messages("b").map(({ id }) => ({ id, outcome: "scheduled" })) },
  });
  expect((await queue.counts()).scheduled).toBe(120);
});
