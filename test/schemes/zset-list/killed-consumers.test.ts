import { describe, expect, it } from "vitest";
import { zsetListEngine } from "../../../src/engines/zset-list/engine.js";
import { closedAtEnd } from "../../support/closed-at-end.js";
import { withRedis } from "../../support/with-redis.js";
import { flowWithKills } from "../killed-consumers.js";

const redis = withRedis();

function flow(reliable: boolean, kills: number) {
  const engine = closedAtEnd(zsetListEngine({ url: redis.url, reliable }));
  const queue = `${reliable ? "reliable" : "plain"}-${kills}`;
  return flowWithKills(engine, { url: redis.url, queue, engine: "zset-list", options: { reliable }, kills });
}

describe("Consumers that are killed at random while 5,000 messages come due", () => {
  it("lose none with `reliable`, and get none early.", async () => {
    const { queue, ids, deliveries, delivered, early } = await flow(true, 10);
    expect(delivered).toEqual(new Set(ids));
    expect(early).toEqual([]);
    // What was held by the killed ones came again, so they were killed at work.
    expect(deliveries).toBeGreaterThan(ids.length);
    expect(await queue.counts()).toEqual({ scheduled: 0, due: 0, leased: 0, dead: 0, paused: false });
  }, 60_000);

  it("get none twice without it, and none early.", async () => {
    const kills = 10;
    const { ids, deliveries, delivered, early } = await flow(false, kills);
    expect(deliveries).toBe(delivered.size);
    expect(early).toEqual([]);
    // A killed one loses what it holds: at most as many as it works on at once, and what was on its way to it.
    expect(delivered.size).toBeGreaterThan(ids.length - kills * 60);
  }, 60_000);

  it("lose none without it either while nobody is killed.", async () => {
    const { ids, deliveries, delivered } = await flow(false, 0);
    expect(delivered).toEqual(new Set(ids));
    expect(deliveries).toBe(ids.length);
  }, 60_000);
});
