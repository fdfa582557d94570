import { type RedisServer, startRedisServer } from "../../../src/testing/redis-server.js";
import { type Ask, asking } from "./asking.js";
import { bringBack } from "./bring-back.js";
import { eventually } from "./eventually.js";
import { promptReplication } from "./prompt-replication.js";

/** What the primary is called among its sentinels. */
const masterName = "main";

export interface SentinelServersOptions {
  /** The server program. Default `redis-server`. */
  readonly binary?: string | undefined;
  /** More arguments for the primary and the replica. */
  readonly args?: readonly string[] | undefined;
  /** More lines for each sentinel's configuration. */
  readonly sentinelConfig?: string | undefined;
}

/** A private primary, its replica, and three sentinels that watch them. A failover takes about a second. */
export class SentinelServers implements AsyncDisposable {
  readonly sentinels: readonly RedisServer[];
  readonly servers: readonly RedisServer[];
  readonly #asks = new Map<RedisServer, Ask>();
  readonly #sentinelAsks: readonly Ask[];
  /** The one that was killed or frozen. */
  #gone: RedisServer | undefined;

  static async start({
    binary,
    args = [],
    sentinelConfig = "",
  }: SentinelServersOptions = {}): Promise<SentinelServers> {
    const serverArgs = [...promptReplication, ...args];
    const primary = await startRedisServer({ binary, args: serverArgs });
    const followsPrimary = ["--replicaof", "127.0.0.1", String(primary.port)];
    const replica = await startRedisServer({ binary, args: [...serverArgs, ...followsPrimary] });
    const config = [
      `sentinel monitor ${masterName} 127.0.0.1 ${primary.port} 2`,
      `sentinel down-after-milliseconds ${masterName} 500`,
      `sentinel failover-timeout ${masterName} 1000`,
      sentinelConfig,
      "",
    ].join("\n");
    const sentinel = () => startRedisServer({ binary, config, args: ["--sentinel"] });
    const sentinels = await Promise.all([sentinel(), sentinel(), sentinel()]);
    const topology = new SentinelServers([primary, replica], sentinels);
    // Else they look at the servers every 10 s, and wait 8 s before they tell one that came back whom to follow.
    await topology.#askSentinels("SENTINEL", "DEBUG", "INFO-PERIOD", 250, "PUBLISH-PERIOD", 250);
    await topology.#settled();
    return topology;
  }

  private constructor(servers: readonly RedisServer[], sentinels: readonly RedisServer[]) {
    this.servers = servers;
    this.sentinels = sentinels;
    this.#sentinelAsks = sentinels.map(asking);
  }

  /** For `redisEngine`. */
  get url(): string {
    return this.urlBy({});
  }

  /** The same, by the ports at which some sentinels are reached instead of their own. */
  urlBy(ports: Readonly<Record<number, number>>): string {
    const places = this.sentinels.map(({ port }) => `127.0.0.1:${ports[port] ?? port}`);
    return `redis+sentinel://${places.join(",")}/${masterName}`;
  }

  /** The server that is the primary now, by the word of the sentinels and its own. */
  primary(): Promise<RedisServer> {
    return eventually("a primary", async () => {
      const ports = await Promise.all(this.#sentinelAsks.map(portOfPrimary));
      const server = this.servers.find(({ port }) => ports.every((one) => one === port));
      const role = server === undefined ? undefined : await this.#ask(server)("ROLE");
      return Array.isArray(role) && role[0] === "master" ? server : undefined;
    });
  }

  /** Has the sentinels make the replica the primary, and waits until it is. Gives the new primary. */
  async failOver(): Promise<RedisServer> {
    const before = await this.primary();
    // They refuse while they do not know of a good replica, or while the last failover is not long enough ago.
    await eventually("a failover by command", async () => this.#sentinelAsks[0]?.("SENTINEL", "FAILOVER", masterName));
    return await this.otherThan(before);
  }

  /** Ends the primary with SIGKILL, and waits until the replica is the primary. Gives both. */
  async killPrimary(): Promise<{ killed: RedisServer; primary: RedisServer }> {
    const killed = await this.primary();
    this.#gone = killed;
    await killed.kill();
    return { killed, primary: await this.otherThan(killed) };
  }

  /** Freezes the primary, and waits until the replica is the primary. Gives both. */
  async freezePrimary(): Promise<{ frozen: RedisServer; primary: RedisServer }> {
    const frozen = await this.primary();
    this.#gone = frozen;
    frozen.pause();
    return { frozen, primary: await this.otherThan(frozen) };
  }

  /** Waits until another server than this one is the primary. */
  otherThan(server: RedisServer): Promise<RedisServer> {
    return eventually("another primary", async () => {
      const primary = await this.primary();
      return primary === server ? undefined : primary;
    });
  }

  /** Brings back what was killed or frozen, and waits until the next failover could take it. */
  async restore(): Promise<void> {
    if (this.#gone !== undefined) await bringBack(this.#gone);
    this.#gone = undefined;
    await this.#settled();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.sentinels, ...this.servers].map((server) => server.stop()));
  }

  #ask(server: RedisServer): Ask {
    const ask = this.#asks.get(server) ?? asking(server);
    this.#asks.set(server, ask);
    return ask;
  }

  #askSentinels(...command: readonly (string | number)[]): Promise<unknown[]> {
    return Promise.all(this.#sentinelAsks.map((ask) => ask(...command)));
  }

  /** Every sentinel knows the other two and the replica, and the replica has all that the primary has. */
  async #settled(): Promise<void> {
    await eventually("sentinels that know each other and the replica", async () => {
      const known = await this.#askSentinels("SENTINEL", "MASTER", masterName);
      const all = known.every((fields) => {
        const master = pairs(fields);
        return master["num-other-sentinels"] === "2" && master["num-slaves"] === "1" && master["flags"] === "master";
      });
      const replication = await this.#ask(await this.primary())("INFO", "replication");
      return (all && /slave0:[^\n]*state=online/.test(String(replication))) || undefined;
    });
  }
}

async function portOfPrimary(ask: Ask): Promise<number> {
  const address = await ask("SENTINEL", "GET-MASTER-ADDR-BY-NAME", masterName);
  return Number(Array.isArray(address) ? address[1] : undefined);
}

const pairs = (flat: unknown): Record<string, string> => {
  const words = Array.isArray(flat) ? flat.map(String) : [];
  return Object.fromEntries(words.flatMap((word, i) => (i % 2 === 0 ? [[word, words[i + 1] ?? ""]] : [])));
};
