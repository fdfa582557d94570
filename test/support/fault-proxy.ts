import { once } from "node:events";
import { createConnection, createServer, type Socket } from "node:net";
import type { Script } from "../../src/scripting/script.js";
import { ProxiedConnection, type ProxiedRequest, type RequestFault, type Strike } from "./proxied-connection.js";
import type { Weather } from "./proxy-lane.js";
import type { RespValue } from "./resp-frames.js";

/** Which requests a fault is for. */
export type RequestMatch = (request: ProxiedRequest) => boolean;

/** Requests that run this script. */
export const runs =
  ({ sha1 }: Pick<Script, "sha1">): RequestMatch =>
  ({ command, args }) =>
    command === "EVALSHA" && args[0]?.toString() === sha1;

/** Requests with this command. */
export const isCommand =
  (name: string): RequestMatch =>
  ({ command }) =>
    command === name;

/** A fault that is waiting for its request. */
export interface PlannedFault {
  /** Resolves when it has come to pass. */
  readonly happened: Promise<ProxiedRequest>;
  /** The server's reply to the request, if the server saw it. */
  readonly reply: Promise<RespValue>;
  /** Lets a request that is held go on. */
  release(): void;
  /** Strikes no request any more, if it has found none yet. */
  withdraw(): void;
}

interface Plan extends Strike {
  readonly matches: RequestMatch;
  countdown: number;
}

/** A TCP proxy in front of a Redis that can do to a connection what networks do. */
export class FaultProxy implements AsyncDisposable {
  readonly #weather: Weather = { delay: 0, byteByByte: false, stalled: undefined };
  readonly #connections = new Set<ProxiedConnection>();
  readonly #plans = new Set<Plan>();
  readonly #server = createServer((client) => this.#accept(client));
  readonly #targetPort: number;
  #unstall: () => void = () => {};
  #refusing = false;
  #swallowing = false;
  #accepted = 0;
  #port = 0;

  /** Starts a proxy on a free port of 127.0.0.1 for the Redis on `targetPort`. */
  static async start(targetPort: number): Promise<FaultProxy> {
    const proxy = new FaultProxy(targetPort);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    const address = proxy.#server.address();
    if (address !== null && typeof address === "object") proxy.#port = address.port;
    return proxy;
  }

  private constructor(targetPort: number) {
    this.#targetPort = targetPort;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.#port}`;
  }

  /** How many connections were made so far. */
  get accepted(): number {
    return this.#accepted;
  }

  /** Strikes the `nth` request that matches from now on, once. */
  plan(fault: RequestFault, matches: RequestMatch, nth = 1): PlannedFault {
    const happened = deferred<ProxiedRequest>();
    const replied = deferred<RespValue>();
    const released = deferred<void>();
    const plan: Plan = {
      fault,
      matches,
      countdown: nth,
      happened: happened.resolve,
      replied: replied.resolve,
      released: released.promise,
    };
    this.#plans.add(plan);
    return {
      happened: happened.promise,
      reply: replied.promise,
      release: () => released.resolve(),
      withdraw: () => void this.#plans.delete(plan),
    };
  }

  /** Cuts the connections that there are; those that sent `command`, if that is given, as SUBSCRIBE for the subscribers. */
  cut(command?: string): void {
    for (const connection of this.#connections) {
      if (command === undefined || connection.commands.has(command)) connection.cut();
    }
  }

  /** Refuses new connections. */
  refuse(): void {
    this.#refusing = true;
  }

  /**
   * Swallows all bytes, with the sockets open, as when a firewall has forgotten a connection. Connections that were made
   * before or meanwhile stay dead after `heal`.
   */
  blackHole(): void {
    this.#swallowing = true;
    for (const connection of this.#connections) connection.swallow();
  }

  /** Holds all bytes back; `heal` delivers them, even of clients that have gone away meanwhile. */
  stall(): void {
    const stalled = deferred<void>();
    this.#unstall = stalled.resolve;
    this.#weather.stalled = stalled.promise;
  }

  /** Makes everything later by so much, ms, each way. */
  delay(ms: number): void {
    this.#weather.delay = ms;
  }

  /** Sends each byte as a packet of its own. */
  byteByByte(): void {
    this.#weather.byteByByte = true;
  }

  /** Ends all weather. Faults that are planned stay planned. */
  heal(): void {
    this.#refusing = false;
    this.#swallowing = false;
    Object.assign(this.#weather, { delay: 0, byteByByte: false, stalled: undefined });
    this.#unstall();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.heal();
    this.#server.close();
    for (const connection of this.#connections) connection.cut();
    await once(this.#server, "close");
  }

  #accept(client: Socket): void {
    if (this.#refusing) {
      client.destroy();
      return;
    }
    this.#accepted++;
    const server = createConnection(this.#targetPort, "127.0.0.1");
    const connection = new ProxiedConnection(client, server, this.#weather, (request) => this.#strike(request));
    if (this.#swallowing) connection.swallow();
    this.#connections.add(connection);
    void connection.closed.then(() => this.#connections.delete(connection));
  }

  #strike(request: ProxiedRequest): Plan | undefined {
    let struck: Plan | undefined;
    for (const plan of this.#plans) {
      if (plan.matches(request) && --plan.countdown === 0) {
        this.#plans.delete(plan);
        struck ??= plan;
      }
    }
    return struck;
  }
}

function deferred<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((resolvePromise) => (resolve = resolvePromise));
  return { promise, resolve };
}
