import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { delayqueueEngine } from "../../../src/engines/delayqueue/engine.js";
import { ids, newMessage } from "../../../src/testing/conformance/stage.js";
import { closedAtEnd } from "../../support/closed-at-end.js";
import { withRedis } from "../../support/with-redis.js";
import { Fleet } from "./fleet.js";

const redis = withRedis();

it("Consumers that are killed at random while 5,000 messages come due lose none, and get none early.", async () => {
  const queue = closedAtEnd(delayqueueEngine({ url: redis.url })).open("orders");
  const fleet = closedAtEnd(await Fleet.start(4, { url: redis.url, queue: "orders" }));
  const all = ids(5_000);
  await queue.schedule(
    all.map((id) => newMessage(id, { payload: Buffer.from("null"), due: { delay: 500 + Math.random() * 3_000 } })),
  );
  for (let kill = 0; kill < 10; kill++) {
    // While it is at work, and not while it starts.
    const before = kill * 400;
    await expect.poll(async () => (await fleet.noted()).length, { timeout: 10_000 }).toBeGreaterThan(before);
    await sleep(Math.random() * 50);
    await fleet.replace();
  }
  const left = async () => {
    const { scheduled, due, leased } = await queue.counts();
    return scheduled + due + leased;
  };
  await expect.poll(left, { timeout: 15_000, interval: 50 }).toBe(0);
  const noted = await fleet.noted();
  expect(new Set(noted.map(({ id }) => id))).toEqual(new Set(all));
  expect(noted.filter(({ early }) => early)).toEqual([]);
  // What was held by the killed ones came again, so they were killed at work.
  expect(noted.length).toBeGreaterThan(all.length);
}, 40_000);
