import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { hashSlot } from "../../src/clients/hash-slot.js";
import { nodeRedis } from "../../src/clients/node-redis.js";
import { redisEngine, type RedisEngineOptions } from "../../src/engines/redis/engine.js";
import { queueKeys } from "../../src/engines/redis/keys.js";
import { Queue } from "../../src/queue.js";
import { read } from "../source-files.js";
import { closedAtEnd } from "../support/closed-at-end.js";
import { ClusterServers } from "../support/topologies/cluster-servers.js";
import { withRedis } from "../support/with-redis.js";

let cluster: ClusterServers;
beforeAll(async () => {
  cluster = await ClusterServers.start();
});
afterAll(() => cluster[Symbol.asyncDispose]());
const single = withRedis();

const engineOn = (options: RedisEngineOptions) => closedAtEnd(redisEngine(options));
const primaryOf = (queue: string) => cluster.primaryOf(hashSlot(queueKeys("punctual", queue).state));

/** A consumer of a queue; `next` waits for a message and gives its lateness. */
function consuming(queue: Queue<string>) {
  let deliver: (lateness: number) => void = () => {};
  const consumer = queue.consume(async (message) => deliver(message.lateness));
  onTestFinished(() => consumer.close());
  let recoveries = 0;
  consumer.on("recovered", () => recoveries++);
  const state = () => consumer.health().state;
  const running = () => expect.poll(state, { interval: 5 }).toBe("running");
  return {
    running,
    state,
    recoveries: () => recoveries,
    next: () => new Promise<number>((resolve) => (deliver = resolve)),
  };
}

describe("In a Cluster", () => {
  it("one engine serves queues on every node, with connections to the node of each alone", async () => {
    const engine = engineOn({ nodes: cluster.urls.slice(0, 1) });
    const names = ["a", "b", "c", "d", "e", "f"];
    const nodes = await Promise.all(names.map(primaryOf));
    expect(new Set(nodes).size).toBe(3);
    for (const [index, name] of names.entries()) {
      await new Queue<string>(name, { engine }).schedule("x", { delay: "1h" });
      expect(await nodes[index]?.ask("EXISTS", queueKeys("punctual", name).messages)).toBe(1);
    }
    const before = await Promise.all(cluster.nodes.map((node) => node.ask("CLIENT", "LIST")));
    await engine.close();
    const clients = (text: unknown) => String(text).trim().split("\n").length;
    await expect.poll(() => cluster.nodes[0]?.ask("CLIENT", "LIST").then(clients)).toBeLessThan(clients(before[0]));
  });

  it("a consumer listens on a sharded channel, and is woken there", async () => {
    const queue = new Queue<string>("sharded", { engine: engineOn({ nodes: cluster.urls }) });
    const consumer = consuming(queue);
    await consumer.running();
    const node = await primaryOf("sharded");
    expect(await node.ask("PUBSUB", "SHARDCHANNELS")).toEqual([expect.stringMatching(/^\{punctual:sharded\}:wake:\*/)]);
    expect(await node.ask("PUBSUB", "CHANNELS")).toEqual([]);
    const next = consumer.next();
    await queue.schedule("x", { delay: 100 });
    expect(await next).toBeLessThan(500);
  });

  it.each([
    ["wakes who does not", "waking", true],
    ["is woken by who does not", "woken", false],
  ])("who connects to a node as to a single Redis %s", async (_, name, wakes) => {
    const inCluster = new Queue<string>(name, { engine: engineOn({ nodes: cluster.urls }) });
    const alone = new Queue<string>(name, { engine: engineOn({ url: (await primaryOf(name)).server.url }) });
    const consumer = consuming(wakes ? inCluster : alone);
    await consumer.running();
    const next = consumer.next();
    await (wakes ? alone : inCluster).schedule("x", { delay: 100 });
    expect(await next).toBeLessThan(500);
  });

  it("a node that is addressed as a single Redis says how to say it", async () => {
    const node = await primaryOf("elsewhere");
    const other = await cluster.otherPrimary(node);
    const queue = new Queue<string>("elsewhere", { engine: engineOn({ url: other.server.url }) });
    await expect(queue.schedule("x", { delay: 0 })).rejects.toMatchObject({
      code: "misconfigured",
      message: expect.stringContaining("give the URLs of some nodes as nodes instead of url"),
    });
  });

  it("nodes that are announced at another address are reached where nodeAddress says", async () => {
    const asked: string[] = [];
    const nodeAddress = (host: string, port: number) => {
      asked.push(`${host}:${port}`);
      return { host: "localhost", port };
    };
    const queue = new Queue<string>("translated", { engine: engineOn({ nodes: cluster.urls, nodeAddress }) });
    expect(await queue.schedule("x", { delay: "1h" })).toMatchObject({ outcome: "scheduled" });
    const { server } = await primaryOf("translated");
    expect(asked).toContain(`127.0.0.1:${server.port}`);
  });

  it("what is scheduled into a slot that is on its way waits until it has arrived", async () => {
    const queue = new Queue<string>("on-its-way", { engine: engineOn({ nodes: cluster.urls }) });
    const from = await primaryOf("on-its-way");
    const to = await cluster.otherPrimary(from);
    const refusals = async () => /errorstat_ASK:count=(\d+)/.exec(String(await from.ask("INFO", "errorstats")))?.[1];
    let scheduled: Promise<unknown> | undefined;
    // There is no key yet, so the old node has nothing and says whom to ask.
    await cluster.moveSlot(hashSlot(queueKeys("punctual", "on-its-way").state), to, async () => {
      scheduled = queue.schedule("x", { delay: "1h" });
      await expect.poll(refusals).toBeDefined();
    });
    expect(await scheduled).toMatchObject({ outcome: "scheduled" });
    expect(await to.ask("EXISTS", queueKeys("punctual", "on-its-way").messages)).toBe(1);
  });

  it("no consumer calls itself back while the Cluster is down, and all are within 5 s when it is up", async () => {
    const queue = new Queue<string>("down", { engine: engineOn({ nodes: cluster.urls }) });
    const consumer = consuming(queue);
    await consumer.running();
    const node = await primaryOf("down");
    const other = await cluster.otherPrimary(node);
    // A Cluster of which a part is missing serves nothing, though the other nodes are there.
    await other.server.kill();
    const isDown = (text: unknown) => String(text).includes("cluster_state:fail");
    await expect.poll(() => node.ask("CLUSTER", "INFO").then(isDown), { timeout: 10_000 }).toBe(true);
    const next = consumer.next();
    await expect(queue.schedule("x", { delay: 0, timeout: "6s" })).rejects.toMatchObject({ code: "not-sent" });
    // By now it has polled, and its connections were made anew many times.
    expect([consumer.state(), consumer.recoveries()]).toEqual(["recovering", 0]);
    await cluster.bringBack(other);
    await expect.poll(consumer.state, { timeout: 5_000 }).toBe("running");
    await queue.schedule("x", { delay: 0 });
    await next;
  });

  it("a node that is down does no harm while another is known", async () => {
    const nodes = ["redis://127.0.0.1:1", ...cluster.urls.slice(0, 1)];
    const queue = new Queue<string>("known", { engine: engineOn({ nodes }) });
    expect(await queue.schedule("x", { delay: "1h" })).toMatchObject({ outcome: "scheduled" });
  });
});

it("A Redis that is in no Cluster is not taken for a node, and it is said what to do", async () => {
  const queue = new Queue<string>("alone", { engine: engineOn({ nodes: [single.url] }) });
  await expect(queue.schedule("x", { delay: 0 })).rejects.toMatchObject({
    code: "misconfigured",
    message: expect.stringContaining("give its URL as url instead"),
  });
});

it.each([
  ["with SPUBLISH", "", true],
  [
    "with PUBLISH where Redis is too old for it",
    "local redis = setmetatable({REDIS_VERSION_NUM = false}, {__index = redis})",
    false,
  ],
])("Who has a star in front of the name is told %s", async (_, before, sharded) => {
  const connection = await nodeRedis({ url: single.url }).connect(1_000);
  onTestFinished(() => connection.destroy());
  const tells = async (consumer: string) => {
    const given = `${before} local channel, fields, now = "wake:", {}, 0`;
    const script = `${given}\n${read("src/scripting/snippets/wake.lua")}\nreturn tell("${consumer}", "w", 7) and 1 or 0`;
    return await single.raw.command("EVAL", script, 0);
  };
  await connection.subscribe("wake:*a", () => {}, sharded);
  await connection.subscribe("wake:*b", () => {}, !sharded);
  await connection.subscribe("wake:a", () => {});
  expect([await tells("*a"), await tells("*b"), await tells("a")]).toEqual([1, 0, 1]);
});
