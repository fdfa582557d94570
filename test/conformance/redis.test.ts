import { afterAll, beforeAll, describe, it } from "vitest";
import { redisEngine } from "../../src/engines/redis/engine.js";
import { realTime, runConformance } from "../../src/testing/conformance/index.js";
import { type RedisServer, startRedisServer } from "../../src/testing/redis-server.js";
import { type RawRedis, rawRedis } from "../support/raw-redis.js";
import { deviations } from "./deviations.js";

let server: RedisServer;
let raw: RawRedis;
let queues = 0;

beforeAll(async () => {
  server = await startRedisServer();
  raw = await rawRedis(server.url);
});

afterAll(async () => {
  raw.close();
  await server.stop();
});

runConformance(
  { describe, it, concurrently: it.concurrent },
  {
    name: "redis",
    async open() {
      const engine = redisEngine({ url: server.url });
      const other = redisEngine({ url: server.url });
      const engines = [engine, other];
      return {
        engine,
        other,
        ...realTime(),
        bounded(deadLetters) {
          const bounded = redisEngine({ url: server.url, deadLetters });
          engines.push(bounded);
          return bounded;
        },
        queueName: () => `conformance-${++queues}`,
        async disturb() {
          await raw.command("CLIENT", "KILL", "TYPE", "pubsub");
          await raw.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
        },
        async close() {
          await Promise.all(engines.map((one) => one.close()));
        },
      };
    },
  },
  { deviations: deviations.redis },
);
