import { afterAll, beforeAll, expect, it } from "vitest";
import { demoScenario } from "../../demo/scenario.js";
import { followServerTime, type ServerTime } from "../../demo/server-time.js";
import { runWorkload } from "../../demo/workload.js";
import { nodeRedis } from "../../src/clients/node-redis.js";
import type { Connection } from "../../src/clients/port.js";
import { zsetRemoveEngine } from "../../src/engines/zset-remove/engine.js";
import { zsetWatchEngine } from "../../src/engines/zset-watch/engine.js";
import { closedAtEnd } from "../support/closed-at-end.js";
import { withRedis } from "../support/with-redis.js";

// What the article runs: 100,000 messages, due within 5 s, 10 consumers. Nobody crashes, so nothing may be lost, though these
// schemes deliver at most once. They cannot cancel.
const scenario = { ...demoScenario, lead: 2_000, cancelOneIn: 0 };

const redis = withRedis();
let connection: Connection;
let time: ServerTime;

beforeAll(async () => {
  connection = await nodeRedis({ url: redis.url }).connect(5_000);
  time = await followServerTime(connection);
});

afterAll(() => {
  time.stop();
  connection.destroy();
});

it.each([
  ["zset-remove", zsetRemoveEngine],
  ["zset-watch", zsetWatchEngine],
] as const)(
  "%s delivers 100,000 messages that are due within 5 s to 10 consumers, none lost, none twice, none early",
  async (_, makeEngine) => {
    const engine = closedAtEnd(makeEngine({ url: redis.url }));
    // One each: those of one engine would take turns, and none would race another for a message.
    const consumerEngines = Array.from({ length: scenario.consumers }, () =>
      closedAtEnd(makeEngine({ url: redis.url })),
    );
    // Of all connections to the Redis at the time, those of this run.
    const connected = async () =>
      Number(/connected_clients:(\d+)/.exec(String(await connection.send(["INFO", "clients"])))?.[1]);
    const before = await connected();
    let most = 0;
    const onProgress = () => void connected().then((clients) => (most = Math.max(most, clients)));
    const figures = await runWorkload({
      engine,
      consumerEngines,
      queue: "workload",
      scenario,
      now: time.now,
      onProgress,
      // A busy machine takes longer than the run is to last before the first is delivered.
      patience: 60_000,
    });
    expect(most - before).toBeGreaterThanOrEqual(scenario.consumers);
    const { scheduled, delivered, lost, duplicated, early } = figures;
    expect({ scheduled, delivered, lost, duplicated, early }).toEqual({
      scheduled: 100_000,
      delivered: 100_000,
      lost: 0,
      duplicated: 0,
      early: 0,
    });
    // Those that failed at first came back.
    expect(figures.retried).toBeGreaterThan(50);
  },
  // Ten that race each other for 100,000 take several times as long where they share two busy processors.
  180_000,
);
