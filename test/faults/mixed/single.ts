import type { RedisEngineOptions } from "../../../src/engines/redis/engine.js";
import { startRedisServer } from "../../../src/testing/redis-server.js";
import { FaultProxy } from "../../support/fault-proxy.js";
import { connectionFaults } from "./connection-faults.js";
import type { Ground } from "./fault.js";
import { loneServerFaults, serverFaults } from "./server-faults.js";

/** One server that keeps each write on its disk, behind a proxy. */
export async function singleGround(options: RedisEngineOptions): Promise<Ground> {
  const server = await startRedisServer({ aof: true });
  const proxy = await FaultProxy.start(server.port);
  return {
    engine: { ...options, url: proxy.url },
    faults: [...connectionFaults(proxy), ...serverFaults(async () => server), ...loneServerFaults(server)],
    async restore() {
      // Nothing is left behind.
    },
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      await server.stop();
    },
  };
}
