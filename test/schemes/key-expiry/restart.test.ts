import { expect, it } from "vitest";
import type { NewMessage } from "../../../src/engine.js";
import { keyExpiryEngine } from "../../../src/engines/key-expiry/engine.js";
import { closedAtEnd } from "../../support/closed-at-end.js";
import { withRedis } from "../../support/with-redis.js";
import { listeningConsumer } from "./listening-consumer.js";

const redis = withRedis({ aof: true });

it("Over a restart of the server, in which messages come due and its setting is forgotten, nothing is lost", async () => {
  const queue = closedAtEnd(keyExpiryEngine({ url: redis.url })).open("q");
  const one = await listeningConsumer(queue);
  const message = (id: string, delay: number): NewMessage => {
    return { id, payload: Buffer.from(id), due: { delay }, onDuplicate: "keep" };
  };
  await queue.schedule(Array.from({ length: 300 }, (_, index) => message(`m-${index}`, 500)));
  await redis.server.kill();
  await expect.poll(() => one.troubles.length).toBeGreaterThan(0);
  await new Promise<void>((resolve) => queue.clock.runAfter(600, resolve));
  await redis.server.restart();
  await expect.poll(() => one.taken.length, { timeout: 10_000 }).toBe(300);
  expect(new Set(one.ids()).size).toBe(300);
  await queue.schedule([message("after", 50)]);
  await expect.poll(one.ids, { timeout: 5_000 }).toContain("after");
  await one.stop();
});
