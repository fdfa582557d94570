import type { RedisEngineOptions } from "../../../src/engines/redis/engine.js";
import { queueKeys } from "../../../src/engines/redis/keys.js";
import { SentinelServers } from "../../support/topologies/sentinel-servers.js";
import { replicated } from "../topologies/replicated.js";
import type { Fault, Ground } from "./fault.js";
import { serverFaults } from "./server-faults.js";

/** What makes a primary say nothing to its sentinels either, so that they take it for one that is gone. */
const silencing = new Set(["slow script", "writes paused"]);

/** A primary, its replica and three sentinels. */
export async function sentinelGround(options: RedisEngineOptions, queue: string): Promise<Ground> {
  const servers = await SentinelServers.start();
  const key = queueKeys("punctual", queue).state;
  const failover = (name: string, failOver: () => Promise<unknown>): Fault => ({
    name,
    async strike() {
      const lossesFrom = await replicated((await servers.primary()).url, key);
      await failOver();
      return { healedAt: Date.now(), lossesFrom };
    },
  });
  return {
    engine: { ...options, url: servers.url },
    faults: [
      ...serverFaults(() => servers.primary()).filter(({ name }) => !silencing.has(name)),
      failover("failover by command", () => servers.failOver()),
      failover("primary killed", () => servers.killPrimary()),
      failover("primary frozen", () => servers.freezePrimary()),
    ],
    restore: () => servers.restore(),
    [Symbol.asyncDispose]: () => servers[Symbol.asyncDispose](),
  };
}
