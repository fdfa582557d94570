import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { redisEngine } from "../../src/engines/redis/engine.js";
import { partitionOf } from "../../src/engines/redis/partition-of.js";
import { type Delivery, Queue } from "../../src/index.js";
import { closedAtEnd } from "../support/closed-at-end.js";
import { ClusterServers } from "../support/topologies/cluster-servers.js";

/** Some partitions lie on a node that is stopped: whoever pulls gets what lies in the others. */

const partitions = 9;
let cluster: ClusterServers;
beforeAll(async () => {
  cluster = await ClusterServers.start({});
}, 60_000);
afterAll(() => cluster[Symbol.asyncDispose]());

/** A queue in several partitions, some of them on a node that can be stopped. */
async function split(name: string) {
  const keeper = async (key: string) => cluster.primaryOf(await cluster.slotOf(key));
  const places = Array.from({ length: partitions }, (_, place) => place);
  const nodes = await Promise.all(places.map((place) => keeper(`{punctual:${name}/${place}}:state`)));
  // New engines read how the queue is split, so its node stays.
  const first = await keeper(`{punctual:${name}}:state`);
  const node = nodes.find((one) => one !== first)!;
  const out = places.filter((place) => nodes[place] === node);
  return {
    stop() {
      node.server.pause();
      onTestFinished(() => node.server.continue());
    },
    goOn: () => node.server.continue(),
    open() {
      const engine = closedAtEnd(redisEngine({ nodes: cluster.urls, partitions, onWarning() {} }));
      return new Queue<number>(name, { engine });
    },
    /** Messages of partitions that are in reach, or are not, once the node is stopped. */
    messages: (prefix: string, count: number, { isOut = false } = {}) =>
      Array.from({ length: 1_000 }, (_, n) => ({ payload: n, id: `${prefix}-${n}`, delay: 0 }))
        .filter(({ id }) => out.includes(partitionOf(id, partitions)) === isOut)
        .slice(0, count),
  };
}

it("deliveries go on with the other partitions, and bring the rest, delivered for the first time, when the node is back", async () => {
  const { open, messages, stop, goOn } = await split("looped");
  const queue = open();
  const deliveries = queue.deliveries({ concurrency: 5 })[Symbol.asyncIterator]();
  const seen: { id: string; attempt: number }[] = [];
  const take = async (count: number) => {
    for (let n = 0; n < count; n++) {
      const next = await deliveries.next();
      const delivery = next.value as Delivery<number>;
      seen.push({ id: delivery.id, attempt: delivery.attempt });
      await delivery.acknowledge();
    }
  };
  await queue.scheduleMany([...messages("a", 20), ...messages("a", 10, { isOut: true })]);
  await take(30);

  stop();
  const began = performance.now();
  await queue.scheduleMany(messages("b", 30));
  await take(30);
  // Each partition that is out, asked by itself, would cost a call of 10 s.
  expect(performance.now() - began).toBeLessThan(3_000);
  goOn();
  await queue.scheduleMany(messages("c", 10, { isOut: true }));
  await take(10);
  await deliveries.return?.();
  expect(new Set(seen.map(({ id }) => id)).size).toBe(70);
  expect(seen.filter(({ attempt }) => attempt !== 1)).toEqual([]);
}, 30_000);

it("a first receive of an engine takes what is due in the other partitions, and fails when that is nothing", async () => {
  const { open, messages, stop } = await split("received");
  await open().scheduleMany(messages("a", 1));
  stop();
  const queue = open();
  const began = performance.now();
  const [delivery] = await queue.receive({ max: 1 });
  await delivery!.acknowledge();
  await expect(queue.receive({ max: 1 })).rejects.toMatchObject({ code: "not-sent" });
  expect(performance.now() - began).toBeLessThan(3_000);
}, 30_000);
