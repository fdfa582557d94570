import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ClusterServers } from "../../support/topologies/cluster-servers.js";
import { TopologyStage } from "./topology-stage.js";

/**
 * Nothing tells of a frozen node but its silence. A consumer that sleeps meets it when it claims next, up to 5 s later, and waits
 * 2 s for an answer. Here the Cluster replaces it in less than 3 s; with the time-out that it has by default it takes 15.
 */
const silence = 3_000;

let servers: ClusterServers;
beforeAll(async () => {
  servers = await ClusterServers.start({ replicas: true });
});
afterAll(() => servers[Symbol.asyncDispose]());

describe.each(["node-redis", "ioredis"] as const)("In a Cluster, through %s,", (library) => {
  let stage: TopologyStage;
  let slot: number;
  beforeEach(async () => {
    // One that is known is enough.
    stage = new TopologyStage({ nodes: servers.urls.slice(0, 2), library }, url);
    slot = await servers.slotOf(stage.key);
  });
  afterEach(async () => {
    await stage[Symbol.asyncDispose]();
    await servers.restore();
  });

  const url = async () => (await servers.primaryOf(slot)).server.url;

  it("producers and consumers survive a failover by command, and nothing is lost", { timeout: 40_000 }, async () => {
    const load = await stage.load();
    // The primary waits until its replica has all.
    await stage.survives(() => servers.failOver(slot));
    await stage.drained(load);
    expect(await stage.problems()).toEqual([]);
  });

  it.each([
    ["killed", () => servers.killPrimary(slot).then(({ killed }) => killed)],
    ["frozen", () => servers.freezePrimary(slot).then(({ frozen }) => frozen)],
  ])("producers and consumers survive a primary that is %s", { timeout: 40_000 }, async (_, fault) => {
    const before = await servers.primaryOf(slot);
    const load = await stage.load();
    const losses = await stage.survives(fault, silence);
    await stage.drained(load);
    await servers.bringBack(before);
    await stage.everyoneWorks(stage.consumers);
    expect(await stage.problems(losses)).toEqual([]);
  });

  it(
    "a slot is moved to another node while 2,000 messages flow, and nothing is lost",
    { timeout: 40_000 },
    async () => {
      const load = await stage.load();
      const to = await servers.otherPrimary(await servers.primaryOf(slot));
      await stage.survives(() => servers.moveSlot(slot, to));
      await stage.drained(load);
      expect(await stage.problems()).toEqual([]);
      expect(await servers.primaryOf(slot)).toBe(to);
    },
  );
});
