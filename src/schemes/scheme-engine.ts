import { readRedisOptions, type RedisOptions } from "../connection/redis-options.js";
import { ServerClock } from "../connection/server-clock.js";
import { Supervisor } from "../connection/supervisor.js";
import type { Engine, EngineQueue, OpenOptions } from "../engine.js";
import { invalidArgument } from "../invalid-argument.js";
import { unsupported } from "../unsupported.js";
import type { SchemeContext } from "./scheme-queue.js";

/** What makes one scheme different from another. */
export interface Scheme {
  /** The name of the engine. */
  readonly name: string;
  /** Names of the options that it takes besides where its Redis is. */
  readonly options?: readonly string[] | undefined;
  /** Why it cannot bound dead letters, for whom gives it the option `deadLetters`: the end of a sentence. Left out: it can. */
  readonly unbounded?: string | undefined;
  /** Makes a queue. `base` begins the name of every key, and holds the hash tag that keeps them in one slot. */
  readonly open: (
    context: SchemeContext,
    base: string,
    options: OpenOptions & { readonly queue: string },
  ) => EngineQueue;
}

/** An engine of one of the schemes: two connections to a Redis that are kept alive, and queues that use them. */
export class SchemeEngine implements Engine {
  readonly name: string;
  readonly #scheme: Scheme;
  readonly #prefix: string;
  readonly #context: SchemeContext;
  readonly #supervisors: Supervisor[] = [];
  #closed = false;

  /** Fails with `invalid-argument` when an option is wrong, and with `unsupported` when it asks for what the scheme cannot do. */
  constructor(scheme: Scheme, options: RedisOptions) {
    refuseBounds(scheme, options);
    const { connector, prefix } = readRedisOptions(options, scheme.options);
    if (connector.forKey !== undefined) {
      // A queue lives on the node that has its slot, and the two connections are those of all queues.
      throw invalidArgument(
        "nodes",
        `nodes is given, and the engine ${scheme.name} does not connect to a Cluster`,
        "url or client, or the engine redis",
      );
    }
    const clock = new ServerClock();
    const connect = () => {
      const supervisor = new Supervisor({ connector, clock });
      this.#supervisors.push(supervisor);
      // A queue may be opened, and ask for a connection, when it is too late for that.
      if (this.#closed) void supervisor.close();
      return supervisor;
    };
    this.name = scheme.name;
    this.#scheme = scheme;
    this.#prefix = prefix;
    this.#context = {
      engine: scheme.name,
      work: connect(),
      calls: connect(),
      connect,
    };
  }

  open(queue: string, options: OpenOptions = {}): EngineQueue {
    return this.#scheme.open(this.#context, `{${this.#prefix}:${queue}}:${this.name}`, { ...options, queue });
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#supervisors.map((supervisor) => supervisor.close()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** Bounds that were ignored would be dead letters that stay for ever, or none where some were to be kept. */
function refuseBounds({ name, unbounded }: Scheme, options: unknown): void {
  if (unbounded === undefined || typeof options !== "object" || options === null) return;
  if (Reflect.get(options, "deadLetters") !== undefined)
    throw unsupported(name, "bury with deadLetters", unbounded, { operation: "bury" });
}
