/** Where a server is, as sentinels or nodes of a Cluster announce it. */
export interface ServerPlace {
  readonly host: string;
  readonly port: number;
}

/** Where to reach a server that is announced at an address that is none from here. */
export type NodeAddress = (host: string, port: number) => { host: string; port: number };
