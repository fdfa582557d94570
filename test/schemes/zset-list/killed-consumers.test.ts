import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import type { EngineQueue } from "../../../src/engine.js";
import { zsetListEngine } from "../../../src/engines/zset-list/engine.js";
import { bytes, newMessage } from "../../../src/testing/conformance/stage.js";
import { withRedis } from "../../support/with-redis.js";
import { Fleet } from "./fleet.js";

const redis = withRedis();
const messages = 5_000;
const spread = 3_000;

/** Schedules messages due within the next seconds, while consumers of them are killed at random; gives what they noted. */
async function flow(reliable: boolean, kills: number) {
  const engine = zsetListEngine({ url: redis.url, reliable });
  onTestFinished(() => engine.close());
  const name = `${reliable ? "reliable" : "plain"}-${kills}`;
  const queue = engine.open(name);
  const fleet = await Fleet.start(4, { url: redis.url, queue: name, reliable, takes: 5 });
  onTestFinished(() => fleet[Symbol.asyncDispose]());
  const ids = Array.from({ length: messages }, (_, index) => `m-${index}`);
  await queue.schedule(
    ids.map((id) => newMessage(id, { payload: bytes("null"), due: { delay: 500 + Math.random() * spread } })),
  );
  for (let kill = 0; kill < kills; kill++) {
    await sleep(Math.random() * 400);
    await fleet.replace();
  }
  await empty(queue);
  await fleet.close();
  return { queue, ids, noted: await fleet.noted() };
}

async function empty(queue: EngineQueue): Promise<void> {
  const waits = async () => {
    const { scheduled, due, leased } = await queue.counts();
    return scheduled + due + leased;
  };
  await expect.poll(waits, { timeout: 15_000, interval: 50 }).toBe(0);
}

describe("Consumers that are killed at random while 5,000 messages come due", () => {
  it("lose none with `reliable`, and get none early.", async () => {
    const { queue, ids, noted } = await flow(true, 10);
    expect(new Set(noted.map(({ id }) => id))).toEqual(new Set(ids));
    expect(noted.filter(({ early }) => early)).toEqual([]);
    // What was held by the killed ones came again, so they were killed at work.
    expect(noted.length).toBeGreaterThan(ids.length);
    expect(await queue.counts()).toEqual({ scheduled: 0, due: 0, leased: 0, dead: 0, paused: false });
  }, 40_000);

  it("get none twice without it, and none early.", async () => {
    const { ids, noted } = await flow(false, 10);
    const distinct = new Set(noted.map(({ id }) => id));
    expect(noted).toHaveLength(distinct.size);
    expect(noted.filter(({ early }) => early)).toEqual([]);
    // A killed one loses what it holds: at most as many as it works on at once, and what was on its way to it.
    expect(distinct.size).toBeGreaterThan(ids.length - 10 * 60);
  }, 40_000);

  it("lose none without it either while nobody is killed.", async () => {
    const { ids, noted } = await flow(false, 0);
    expect(noted.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  }, 40_000);
});
