import { afterAll, beforeAll } from "vitest";
import { type RedisServer, type RedisServerOptions, startRedisServer } from "../../src/testing/redis-server.js";
import { type RawRedis, rawRedis } from "./raw-redis.js";

/** A private Redis, there while the tests of a file run. */
export interface FileRedis {
  readonly server: RedisServer;
  readonly url: string;
  /** Raw access to it. */
  readonly raw: RawRedis;
}

/** Starts a private Redis before the tests of a file and ends it after them. What it gives is there in tests and hooks. */
export function withRedis(options?: RedisServerOptions): FileRedis {
  let server: RedisServer;
  let raw: RawRedis;
  beforeAll(async () => {
    server = await startRedisServer(options);
    raw = await rawRedis(server.url);
  });
  afterAll(async () => {
    raw.close();
    await server.stop();
  });
  return {
    get server() {
      return server;
    },
    get url() {
      return server.url;
    },
    get raw() {
      return raw;
    },
  };
}
