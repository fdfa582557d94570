import type { Random } from "../../../demo/seeded-random.js";
import type { RedisEngineOptions } from "../../../src/engines/redis/engine.js";
import { queueKeys } from "../../../src/engines/redis/keys.js";
import { ClusterServers } from "../../support/topologies/cluster-servers.js";
import { replicated } from "../topologies/replicated.js";
import { connectionFaults } from "./connection-faults.js";
import { type Fault, fault, type Ground, untold } from "./fault.js";
import { loadingArgs } from "./loading.js";
import { login, loginArgs, passwordChanged } from "./login.js";
import { Proxies } from "./proxies.js";
import { serverFaults } from "./server-faults.js";

/** Three primaries with a replica each, each of them behind a proxy, and a queue that is split over them. */
export async function clusterGround(options: RedisEngineOptions, queue: string, partitions: number): Promise<Ground> {
  const servers = await ClusterServers.start({ replicas: true, args: [...loginArgs, ...loadingArgs] });
  const nodes = servers.nodes.map(({ server }) => server);
  const proxies = await Proxies.start(nodes);
  const names = partitions === 1 ? [queue] : Array.from({ length: partitions }, (_, place) => `${queue}/${place}`);
  const keys = names.map((name) => queueKeys("punctual", name).state);
  /** Any key of the queue, its slot, and who serves it. */
  const place = async (random: Random) => {
    const key = keys[Math.floor(random() * keys.length)] ?? "";
    const slot = await servers.slotOf(key);
    return { key, slot, primary: await servers.primaryOf(slot) };
  };
  const failover = (name: string, least: number, failOver: (slot: number) => Promise<unknown>): Fault => ({
    name,
    async strike(random) {
      const { key, slot, primary } = await place(random);
      const lossesFrom = await replicated(primary.server.url, key);
      await failOver(slot);
      return { healedAt: Math.max(Date.now(), lossesFrom + least), lossesFrom };
    },
  });
  return {
    reach: {
      options: { ...options, ...login, nodes: proxies.all.slice(0, 2).map(({ url }) => url), partitions },
      ports: proxies.ports,
    },
    faults: [
      ...connectionFaults({
        all: proxies.all,
        one: async (random) => proxies.before((await place(random)).primary.server),
      }),
      ...serverFaults(async (random) => {
        const { key, primary } = await place(random);
        return { key, server: primary.server };
      }),
      passwordChanged(nodes),
      failover("failover by command", 0, (slot) => servers.failOver(slot)),
      failover("primary killed", untold, (slot) => servers.killPrimary(slot)),
      failover("primary frozen", untold, (slot) => servers.freezePrimary(slot)),
      fault("slot moved", async (random) => {
        const { slot, primary } = await place(random);
        await servers.moveSlot(slot, await servers.otherPrimary(primary));
      }),
    ],
    restore: () => servers.restore(),
    async [Symbol.asyncDispose]() {
      await proxies[Symbol.asyncDispose]();
      await servers[Symbol.asyncDispose]();
    },
  };
}
