import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { SentinelServers } from "../../support/topologies/sentinel-servers.js";
import { TopologyStage } from "./topology-stage.js";

let servers: SentinelServers;
beforeAll(async () => {
  servers = await SentinelServers.start();
});
afterAll(() => servers[Symbol.asyncDispose]());

describe.each(["node-redis", "ioredis"] as const)("With sentinels, through %s,", (library) => {
  let stage: TopologyStage;
  beforeEach(() => {
    stage = new TopologyStage({ url: servers.url, library }, async () => (await servers.primary()).url);
  });
  afterEach(async () => {
    await stage[Symbol.asyncDispose]();
    await servers.restore();
  });

  it("producers and consumers survive a failover by command", { timeout: 40_000 }, async () => {
    const load = await stage.load();
    const losses = await stage.survives(() => servers.failOver());
    await stage.drained(load);
    expect(await stage.problems(losses)).toEqual([]);
  });

  it("producers and consumers survive a primary that is killed", { timeout: 40_000 }, async () => {
    const load = await stage.load();
    const losses = await stage.survives(() => servers.killPrimary());
    await stage.drained(load);
    expect(await stage.problems(losses)).toEqual([]);
  });

  it("idle consumers hear of a new primary while the old one is frozen", { timeout: 40_000 }, async () => {
    await stage.running(...stage.consumers);
    await stage.producer.schedule("far", "succeed", 3_600_000);
    const losses = await stage.survives(() => servers.freezePrimary());
    // What the old one says when it comes back is not believed.
    await servers.restore();
    await stage.everyoneWorks(stage.consumers);
    expect(await stage.problems(losses)).toEqual([]);
  });
});
