import { expect, it } from "vitest";
import { zsetWatchEngine } from "../../../src/engines/zset-watch/engine.js";
import { closedAtEnd } from "../../support/closed-at-end.js";
import { withRedis } from "../../support/with-redis.js";
import { flowWithKills } from "../killed-consumers.js";

const redis = withRedis();

it("Consumers that are killed at random while 5,000 messages come due get none twice, and none early", async () => {
  const engine = closedAtEnd(zsetWatchEngine({ url: redis.url }));
  const kills = 10;
  const order = { url: redis.url, queue: "killed", engine: "zset-watch", kills };
  const { ids, deliveries, delivered, early } = await flowWithKills(engine, order);
  expect(deliveries).toBe(delivered.size);
  expect(early).toEqual([]);
  // A killed one loses what it holds: at most as many as it works on at once, and what was on its way to it.
  expect(delivered.size).toBeGreaterThan(ids.length - kills * 60);
}, 60_000);
