import type { RedisServer } from "../../../src/testing/redis-server.js";
import { FaultProxy } from "../../support/fault-proxy.js";

/** A proxy before each of some servers. It belongs to the server, whatever that is to the others, which reach it directly. */
export class Proxies implements AsyncDisposable {
  readonly #of: ReadonlyMap<RedisServer, FaultProxy>;

  static async start(servers: readonly RedisServer[]): Promise<Proxies> {
    const pairs = servers.map(async (server) => [server, await FaultProxy.start(server.port)] as const);
    return new Proxies(new Map(await Promise.all(pairs)));
  }

  private constructor(of: ReadonlyMap<RedisServer, FaultProxy>) {
    this.#of = of;
  }

  get all(): readonly FaultProxy[] {
    return [...this.#of.values()];
  }

  /** By the ports of the servers, those of their proxies. */
  get ports(): Readonly<Record<number, number>> {
    return Object.fromEntries([...this.#of].map(([server, proxy]) => [server.port, Number(new URL(proxy.url).port)]));
  }

  before(server: RedisServer): FaultProxy {
    const proxy = this.#of.get(server);
    if (proxy === undefined) throw new Error(`there is no proxy before ${server.url}`);
    return proxy;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.all.map((proxy) => proxy[Symbol.asyncDispose]()));
  }
}
