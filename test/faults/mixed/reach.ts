import type { RedisEngineOptions } from "../../../src/engines/redis/engine.js";

/** How producers and consumers reach the servers of a run: plain values, so that a process can be told. */
export interface Reach {
  readonly options: Omit<RedisEngineOptions, "nodeAddress">;
  /** With sentinels or a Cluster: by the port at which a server is announced, that of the proxy before it. */
  readonly ports?: Readonly<Record<number, number>>;
}

export function engineOptions({ options, ports }: Reach): RedisEngineOptions {
  if (ports === undefined) return options;
  return { ...options, nodeAddress: (host, port) => ({ host, port: ports[port] ?? port }) };
}
