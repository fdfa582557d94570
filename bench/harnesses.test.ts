import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { nodeRedis } from "../src/clients/node-redis.js";
import type { Connection } from "../src/clients/port.js";
import { type RedisServer, startRedisServer } from "../src/testing/redis-server.js";
import { scheduleAll } from "./bulk.js";
import type { Delivered } from "./harness.js";
import { payloadOf } from "./payloads.js";
import { countSentCommands } from "./sent-commands.js";
import { countersOf } from "./server-counters.js";
import { subjects } from "./subjects.js";
import { untilGone } from "./until-gone.js";

let server: RedisServer;
let connection: Connection;
beforeAll(async () => {
  server = await startRedisServer();
  connection = await nodeRedis({ url: server.url }).connect(3_000);
});
afterAll(async () => {
  connection.destroy();
  await server.stop();
});

const driven = subjects.flatMap(({ name, load }) => (load === undefined ? [] : [{ name, load }]));

describe.each(driven)("The harness of $name", ({ name, load }) => {
  it("delivers each message once, with its number and due time, and none is left.", async () => {
    const place = { url: server.url, queue: `whole-${name}` };
    const [producer, consumer] = await Promise.all([
      load().then((open) => open(place)),
      load().then((open) => open(place)),
    ]);
    try {
      const dueAt = Date.now() + 100;
      const payloads = Array.from({ length: 50 }, (_, number) => payloadOf(number, dueAt + number));
      await scheduleAll(producer, payloads.slice(0, 40));
      await Promise.all(payloads.slice(40).map((payload) => producer.schedule(payload)));
      expect(await producer.pending()).toBe(50);
      // The bare commands take only what is due when they begin.
      await expect.poll(() => Date.now()).toBeGreaterThan(dueAt + 50);

      const delivered: Delivered[] = [];
      await untilGone(consumer, 50, 10, { deliver: (one) => delivered.push(one) });
      const found = delivered.map(({ number, dueAt: due }) => ({ number, due }));
      expect(found.toSorted((one, other) => one.due - other.due)).toEqual(
        payloads.map(({ number, dueAt: due }) => ({ number, due })),
      );
    } finally {
      await Promise.all([producer.close(), consumer.close()]);
    }
  });
});

describe("What clients send", () => {
  it("is counted without what scripts run, which the counter of the server has as well.", async () => {
    const sent = await countSentCommands(server.url);
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
    }
  });
});
