import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { nodeRedis } from "../src/clients/node-redis.js";
import { type RedisServer, startRedisServer } from "../src/testing/redis-server.js";
import { scheduleAll } from "./bulk.js";
import type { Delivered, Harness } from "./harness.js";
import { payloadOf } from "./payloads.js";
import { countSentCommands } from "./sent-commands.js";
import { countersOf } from "./server-counters.js";
import { subjects } from "./subjects.js";
import { untilGone } from "./until-gone.js";

let server: RedisServer;
beforeAll(async () => void (server = await startRedisServer()));
afterAll(() => server.stop());

const driven = subjects.flatMap(({ name, load }) => (load === undefined ? [] : [{ name, load }]));

describe.each(driven)("The harness of $name", ({ name, load }) => {
  it("delivers each message once, with its number and due time, and none is left.", async () => {
    const place = { url: server.url, queue: `whole-${name}` };
    const [producer, consumer] = await Promise.all([
      load().then((open) => open(place)),
      load().then((open) => open(place)),
    ]);
    let open = [producer, consumer];
    try {
      const dueAt = Date.now() + 100;
      const payloads = Array.from({ length: 50 }, (_, number) => payloadOf(number, dueAt + number));
      await scheduleAll(producer, payloads.slice(0, 40));
      await Promise.all(payloads.slice(40).map((payload) => producer.schedule(payload)));
      expect(await producer.pending()).toBe(50);
      // The bare commands take only what is due when they begin.
      await expect.poll(() => Date.now()).toBeGreaterThan(dueAt + 50);

      // Counted before anything drops what comes twice, and until the consumer has closed.
      const delivered: Delivered[] = [];
      const consume: Harness["consume"] = (deliver, concurrency) =>
        consumer.consume((one) => {
          delivered.push(one);
          deliver(one);
        }, concurrency);
      await untilGone({ ...consumer, consume }, 50, 10);
      open = [producer];
      await consumer.close();
      const found = delivered.map(({ number, dueAt: due }) => ({ number, due }));
      expect(found.toSorted((one, other) => one.due - other.due)).toEqual(
        payloads.map(({ number, dueAt: due }) => ({ number, due })),
      );
    } finally {
      await Promise.all(open.map((harness) => harness.close()));
    }
  });
});

describe("What clients send", () => {
  it("is counted without what scripts run, which the counter of the server has as well.", async () => {
    // A server of its own: clients that have left another still close, and are counted.
    await using alone = await startRedisServer();
    const connection = await nodeRedis({ url: alone.url }).connect(3_000);
    const sent = await countSentCommands(alone.url);
    try {
      const before = await countersOf(connection);
      await connection.send(["EVAL", "return {redis.call('PING'), redis.call('PING')}", "0"]);
      await connection.send(["PING"]);
      const after = await countersOf(connection);
      await expect.poll(() => sent.count()).toBe(2);
      // The first question, the script, its two commands, and one more.
      expect(after.commands - before.commands).toBe(5);
    } finally {
      sent.close();
      connection.destroy();
    }
  });
});
