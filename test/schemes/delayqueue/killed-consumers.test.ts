import { expect, it } from "vitest";
import { delayqueueEngine } from "../../../src/engines/delayqueue/engine.js";
import { closedAtEnd } from "../../support/closed-at-end.js";
import { withRedis } from "../../support/with-redis.js";
import { flowWithKills } from "../killed-consumers.js";

const redis = withRedis();

it("Consumers that are killed at random while 5,000 messages come due lose none, and get none early.", async () => {
  const engine = closedAtEnd(delayqueueEngine({ url: redis.url }));
  const order = { url: redis.url, queue: "orders", engine: "delayqueue", kills: 10 };
  const { ids, deliveries, delivered, early } = await flowWithKills(engine, order);
  expect(delivered).toEqual(new Set(ids));
  expect(early).toEqual([]);
  // What was held by the killed ones came again, so they were killed at work.
  expect(deliveries).toBeGreaterThan(ids.length);
}, 60_000);
