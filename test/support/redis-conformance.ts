import { describe, it } from "vitest";
import type { DeadLetterOptions } from "../../src/dead-letter-bounds.js";
import type { Engine } from "../../src/engine.js";
import type { RedisServerOptions } from "../../src/testing/redis-server.js";
import { realTime, type RegisterTest, runConformance } from "../../src/testing/conformance/index.js";
import type { Deviations } from "./deviations.js";
import { withRedis } from "./with-redis.js";

/** The option that bounds dead letters. */
export interface Bounds {
  readonly deadLetters: DeadLetterOptions;
}

/** An engine on a Redis that is held to the contract. */
export interface RedisSubject {
  /** The name of the engine, and of the suite. */
  readonly name: string;
  /** A new engine on the Redis of this URL, with these options besides: one that cannot do what they ask for refuses them. */
  readonly engine: (url: string, bounds?: Bounds) => Engine;
  /** Whether it delivers at most once. Default false. */
  readonly forgets?: boolean;
  /** The server that it runs on. Default a redis-server. */
  readonly server?: RedisServerOptions;
  /**
   * Whether each case has one of the server's 16 databases to itself, emptied after it: where the keys of one case slow down
   * others. Default false.
   */
  readonly ownDatabases?: boolean;
  /** Whether there is no such server here, so that no case runs. */
  readonly leftOut?: boolean;
  /** Cases that it does not pass, by name, each with its kind and the reason. */
  readonly deviations?: Deviations;
}

/** How long one case may take, ms. Most take a second, and thousands of messages several times 10 s on a busy machine. */
const timeout = 120_000;
let queues = 0;

/** Registers the conformance cases of an engine, on a private Redis. */
export function conformanceOnRedis({
  name,
  engine,
  forgets,
  server,
  ownDatabases,
  leftOut,
  ...options
}: RedisSubject): void {
  const redis = withRedis(server);
  const databases = Array.from({ length: ownDatabases === true ? 16 : 0 }, (_, index) => index);
  runConformance(
    leftOut === true ? { describe, it: leftOutBy(it) } : { describe, it, concurrently: it.concurrent },
    {
      name,
      async open() {
        const engines: Engine[] = [];
        const database = databases.shift();
        const url = database === undefined ? redis.url : `${redis.url}/${database}`;
        const open = (make: () => Engine) => {
          const made = make();
          engines.push(made);
          return made;
        };
        return {
          engine: open(() => engine(url)),
          other: open(() => engine(url)),
          ...realTime(),
          forgets,
          bounded: (deadLetters) => open(() => engine(url, { deadLetters })),
          queueName: () => `conformance-${++queues}`,
          async disturb() {
            await redis.raw.command("CLIENT", "KILL", "TYPE", "pubsub");
            await redis.raw.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
          },
          async close() {
            await Promise.all(engines.map((one) => one.close()));
            if (database === undefined) return;
            // In one write, so that nobody else's command comes between them.
            const commands = [["SELECT", database], ["FLUSHDB"], ["SELECT", 0]];
            await Promise.all(commands.map((command) => redis.raw.command(...command)));
            databases.push(database);
          },
        };
      },
    },
    { timeout, ...options },
  );
}

/** Leaves a case out when it comes to it: it is listed all the same, so the pages made from the suite are those of any machine. */
const leftOutBy =
  (register: typeof it): RegisterTest =>
  (name) =>
    register(name, (context) => context.skip("its server is not there"));
