import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { redisEngine } from "../../src/engines/redis/engine.js";
import { PunctualError, Queue } from "../../src/index.js";
import { closedAtEnd } from "../support/closed-at-end.js";
import type { ClusterNode } from "../support/topologies/cluster-node.js";
import { ClusterServers } from "../support/topologies/cluster-servers.js";
import { eventually } from "../support/topologies/eventually.js";

/** In a Cluster each partition has a primary of its own, and waits for the replicas of that. */

const partitions = 6;
const places = Array.from({ length: partitions }, (_, place) => place);
let cluster: ClusterServers;
let frozen: ClusterNode | undefined;
let ended: ClusterNode | undefined;
beforeAll(async () => {
  cluster = await ClusterServers.start({ replicas: true });
}, 60_000);
afterEach(async () => {
  frozen?.server.continue();
  if (ended !== undefined) await cluster.bringBack(ended);
  ended = undefined;
}, 60_000);
afterAll(() => cluster[Symbol.asyncDispose]());

async function replicaOf(primary: ClusterNode): Promise<ClusterNode> {
  const [replica] = (await primary.ask("CLUSTER", "REPLICAS", primary.id)) as string[];
  const node = cluster.nodes.find(({ id }) => replica?.startsWith(id));
  if (node === undefined) throw new Error(`${primary.server.url} has no replica`);
  return node;
}

const codeOf = (error: unknown) => (error instanceof PunctualError ? error.code : String(error));
const slotOf = (name: string) => cluster.slotOf(`{punctual:${name}}:state`);
const engineWith = (timeout: number) =>
  closedAtEnd(redisEngine({ nodes: cluster.urls, durability: { replicas: 1, timeout }, onWarning: () => {} }));

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
  frozen = await replicaOf(primary);
  frozen.server.pause();

  await expect(queue.scheduleMany(messages("b"))).rejects.toMatchObject({
    code: "not-confirmed",
    message: expect.stringContaining("0 of 1 replicas confirmed them within 300 ms"),
    details: { results: messages("b").map(({ id }) => ({ id, outcome: "scheduled" })) },
  });
  expect((await queue.counts()).scheduled).toBe(120);
});

it("what lacks its replica is refused at each node, whichever was looked at before, and until that is mended", async () => {
  const bare = await cluster.primaryOf(await slotOf("lacking-0"));
  ended = await replicaOf(bare);
  await ended.server.kill();
  await eventually(
    "a primary without a replica",
    async () => String(await bare.ask("INFO", "replication")).includes("connected_slaves:0") || undefined,
  );
  const engine = engineWith(5_000);
  const told: string[] = [];
  const expected: string[] = [];
  for (const n of Array.from({ length: 12 }, (_, name) => 11 - name)) {
    const queue = new Queue<number>(`lacking-${n}`, { engine });
    const isBare = (await cluster.primaryOf(await slotOf(`lacking-${n}`))) === bare;
    const call = queue.schedule(n, { delay: "1h" });
    told.push(await call.then(({ outcome }) => outcome, codeOf));
    expected.push(isBare ? "misconfigured" : "scheduled");
    expect((await queue.counts()).scheduled).toBe(isBare ? 0 : 1);
  }
  expect(told).toEqual(expected);
  // The bare one was not the first.
  expect(new Set(expected.slice(0, -1))).toContain("scheduled");

  await cluster.bringBack(ended);
  ended = undefined;
  const queue = new Queue<number>("lacking-0", { engine });
  const scheduled = await eventually("a schedule", () => queue.schedule(0, { delay: "1h" }));
  expect(scheduled.outcome).toBe("scheduled");
}, 60_000);

it("after a failover at any node, a schedule is stored, and fails as not confirmed", async () => {
  const engine = engineWith(300);
  const queues = new Map<ClusterNode, string>();
  for (let n = 0; queues.size < 3; n++) {
    const name = `failing-over-${n}`;
    const node = await cluster.primaryOf(await slotOf(name));
    if (queues.has(node)) continue;
    queues.set(node, name);
    await new Queue<number>(name, { engine }).schedule(0, { delay: "1h" });
  }
  for (const name of queues.values()) {
    const queue = new Queue<number>(name, { engine });
    ({ killed: ended } = await cluster.killPrimary(await slotOf(name)));
    await expect(queue.schedule(1, { delay: "1h", id: "a" })).rejects.toMatchObject({
      code: "not-confirmed",
      details: { results: [{ id: "a", outcome: "scheduled" }] },
    });
    await cluster.bringBack(ended);
    ended = undefined;
  }
}, 60_000);
