import type { RedisEngineOptions } from "../../../src/engines/redis/engine.js";
import { queueKeys } from "../../../src/engines/redis/keys.js";
import { startRedisServer } from "../../../src/testing/redis-server.js";
import { FaultProxy } from "../../support/fault-proxy.js";
import { connectionFaults } from "./connection-faults.js";
import type { Ground } from "./fault.js";
import { loadingArgs } from "./loading.js";
import { login, loginArgs, passwordChanged } from "./login.js";
import { loneServerFaults, serverFaults } from "./server-faults.js";

/** One server that keeps each write on its disk, behind a proxy. */
export async function singleGround(options: RedisEngineOptions, queue: string): Promise<Ground> {
  const server = await startRedisServer({ aof: true, args: [...loginArgs, ...loadingArgs] });
  const proxy = await FaultProxy.start(server.port);
  const { state: key } = queueKeys("punctual", queue);
  return {
    reach: { options: { ...options, ...login, url: proxy.url } },
    faults: [
      ...connectionFaults({ all: [proxy], one: async () => proxy }),
      ...serverFaults(async () => ({ server, key })),
      ...loneServerFaults(server),
      passwordChanged([server]),
    ],
    async restore() {
      // Nothing is left behind.
    },
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      await server.stop();
    },
  };
}
