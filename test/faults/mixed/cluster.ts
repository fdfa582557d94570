import type { Random } from "../../../demo/seeded-random.js";
import type { RedisEngineOptions } from "../../../src/engines/redis/engine.js";
import { queueKeys } from "../../../src/engines/redis/keys.js";
import { ClusterServers } from "../../support/topologies/cluster-servers.js";
import { replicated } from "../topologies/replicated.js";
import { type Fault, fault, type Ground, untold } from "./fault.js";
import { serverFaults } from "./server-faults.js";

/** Three primaries with a replica each, and a queue that is split over them. */
export async function clusterGround(options: RedisEngineOptions, queue: string, partitions: number): Promise<Ground> {
  const servers = await ClusterServers.start({ replicas: true });
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
    engine: { ...options, nodes: servers.urls.slice(0, 2), partitions },
    faults: [
      ...serverFaults(async (random) => (await place(random)).primary.server),
      failover("failover by command", 0, (slot) => servers.failOver(slot)),
      failover("primary killed", untold, (slot) => servers.killPrimary(slot)),
      failover("primary frozen", untold, (slot) => servers.freezePrimary(slot)),
      fault("slot moved", async (random) => {
        const { slot, primary } = await place(random);
        await servers.moveSlot(slot, await servers.otherPrimary(primary));
      }),
    ],
    restore: () => servers.restore(),
    [Symbol.asyncDispose]: () => servers[Symbol.asyncDispose](),
  };
}
