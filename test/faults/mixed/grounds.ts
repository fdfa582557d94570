import { clusterGround } from "./cluster.js";
import type { Ground } from "./fault.js";
import { sentinelGround } from "./sentinel.js";
import { singleGround } from "./single.js";

export const topologies = ["single", "sentinel", "cluster"] as const;
export type Topology = (typeof topologies)[number];

export const clients = ["node-redis", "ioredis"] as const;
export type Client = (typeof clients)[number];

/** Starts the servers of a run. */
export function groundOf(
  topology: Topology,
  { client, partitions, queue }: { readonly client: Client; readonly partitions: number; readonly queue: string },
): Promise<Ground> {
  const options = { library: client };
  if (topology === "single") return singleGround({ ...options, partitions }, queue);
  if (topology === "sentinel") return sentinelGround({ ...options, partitions }, queue);
  return clusterGround(options, queue, partitions);
}
