import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import type { Engine } from "../../src/engine.js";
import { newMessage } from "../../src/testing/conformance/stage.js";
import { closedAtEnd } from "../support/closed-at-end.js";
import { Fleet, type Order } from "../support/fleet.js";

const messages = 5_000;

/** Schedules 5,000 messages due within 3 s, while consumers of them are killed at random and replaced; gives what they noted. */
export async function flowWithKills(
  engine: Engine,
  { kills, ...order }: Pick<Order, "url" | "queue" | "engine" | "options"> & { kills: number },
) {
  const queue = engine.open(order.queue);
  const fleet = closedAtEnd(await Fleet.start(4, { ...order, takes: 10 }));
  const ids = Array.from({ length: messages }, (_, index) => `m-${index}`);
  await queue.schedule(
    ids.map((id) => newMessage(id, { payload: Buffer.from("null"), due: { delay: 500 + Math.random() * 3_000 } })),
  );
  const noted = async () => (await fleet.noted()).length;
  for (let kill = 0; kill < kills; kill++) {
    // While it is at work, and not while it starts.
    await expect.poll(noted, { timeout: 15_000, interval: 20 }).toBeGreaterThan(kill * 400);
    await sleep(Math.random() * 50);
    await fleet.replace();
  }
  const waiting = async () => {
    const { scheduled, due, leased } = await queue.counts();
    return scheduled + due + leased;
  };
  await expect.poll(waiting, { timeout: 15_000, interval: 50 }).toBe(0);
  await fleet.close();
  const all = await fleet.noted();
  return {
    queue,
    ids,
    /** Deliveries, and of how many messages. */
    deliveries: all.length,
    delivered: new Set(all.map(({ id }) => id)),
    early: all.filter(({ early }) => early),
  };
}
