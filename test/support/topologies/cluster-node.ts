import { createServer } from "node:net";
import { once } from "node:events";
import { type RedisServer, startRedisServer } from "../../../src/testing/redis-server.js";
import { type Ask, asking } from "./asking.js";
import { promptReplication } from "./prompt-replication.js";

/** One node of a private Cluster. */
export interface ClusterNode {
  readonly server: RedisServer;
  /** The port on which nodes speak to each other. */
  readonly busPort: number;
  /** As it is called among the nodes. */
  readonly id: string;
  readonly ask: Ask;
}

export interface ClusterNodeOptions {
  readonly binary?: string | undefined;
  readonly args?: readonly string[] | undefined;
}

/** Starts a node that is alone and serves nothing. */
export async function startClusterNode({ binary, args = [] }: ClusterNodeOptions): Promise<ClusterNode> {
  const busPort = await freePort();
  const server = await startRedisServer({
    binary,
    args: [
      "--cluster-enabled",
      "yes",
      // Without it the port of the bus is that of the clients and 10,000, which may be none.
      "--cluster-port",
      String(busPort),
      "--cluster-node-timeout",
      "1000",
      // A replica that was cut off for a moment may take over all the same.
      "--cluster-replica-validity-factor",
      "0",
      ...promptReplication,
      ...args,
    ],
  });
  const ask = asking(server);
  return { server, busPort, id: String(await ask("CLUSTER", "MYID")), ask };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}
