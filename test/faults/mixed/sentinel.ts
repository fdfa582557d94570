import { setTimeout as sleep } from "node:timers/promises";
import type { RedisEngineOptions } from "../../../src/engines/redis/engine.js";
import { queueKeys } from "../../../src/engines/redis/keys.js";
import { SentinelServers } from "../../support/topologies/sentinel-servers.js";
import { replicated } from "../topologies/replicated.js";
import { connectionFaults } from "./connection-faults.js";
import { type Fault, fault, type Ground } from "./fault.js";
import { loadingArgs } from "./loading.js";
import { login, loginArgs, passwordChanged } from "./login.js";
import { Proxies } from "./proxies.js";
import { serverFaults } from "./server-faults.js";

/** What makes a primary say nothing to its sentinels either, so that they take it for one that is gone. */
const silencing = new Set(["slow script", "writes paused"]);

/** A primary, its replica and three sentinels, each of them behind a proxy. */
export async function sentinelGround(options: RedisEngineOptions, queue: string): Promise<Ground> {
  const servers = await SentinelServers.start({ args: [...loginArgs, ...loadingArgs] });
  const proxies = await Proxies.start([...servers.servers, ...servers.sentinels]);
  const sentinels = servers.sentinels.map((sentinel) => proxies.before(sentinel));
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
    reach: { options: { ...options, ...login, url: servers.urlBy(proxies.ports) }, ports: proxies.ports },
    faults: [
      ...connectionFaults({ all: proxies.all, one: async () => proxies.before(await servers.primary()) }),
      // Who has a primary needs no sentinel.
      fault("sentinels out of reach", async (random) => {
        for (const proxy of sentinels) proxy.blackHole();
        await sleep(500 + random() * 2_000);
        for (const proxy of sentinels) proxy.heal();
      }),
      passwordChanged(servers.servers),
      ...serverFaults(async () => ({ server: await servers.primary(), key })).filter(
        ({ name }) => !silencing.has(name),
      ),
      failover("failover by command", () => servers.failOver()),
      failover("primary killed", () => servers.killPrimary()),
      failover("primary frozen", () => servers.freezePrimary()),
    ],
    restore: () => servers.restore(),
    async [Symbol.asyncDispose]() {
      await proxies[Symbol.asyncDispose]();
      await servers[Symbol.asyncDispose]();
    },
  };
}
