import { randomUUID } from "node:crypto";
import type { Connection, Connector } from "../src/clients/port.js";
import { nodeRedis } from "../src/clients/node-redis.js";
import type { Engine } from "../src/engine.js";
import { memoryEngine } from "../src/engines/memory/engine.js";
import { redisEngine } from "../src/engines/redis/engine.js";
import { queueKeys } from "../src/engines/redis/keys.js";
import { type RedisServer, startRedisServer } from "../src/testing/redis-server.js";
import { sentenceOf } from "./sentence.js";
import { followServerTime } from "./server-time.js";

/** Where the demo keeps its messages. */
export interface ChosenEngine {
  readonly engine: Engine;
  /** The name of a queue that nobody else uses. */
  readonly queue: string;
  /** Another such queue, for the run that warms the process up. */
  readonly warmUpQueue: string;
  /** A sentence: which engine, and why. */
  readonly reason: string;
  /** The time that decides what is due, Unix ms: the latest that it can be. */
  now(): number;
  /** Closes the engine and leaves nothing behind. */
  leave(): Promise<void>;
}

/** The demo cannot run; the message is a sentence for people. */
export class CannotRun extends Error {
  override readonly name = "CannotRun";
}

const prefix = "punctual-demo";
const connectTimeout = 3_000;

/** Takes the Redis of `url` if given, else a private one, else the memory of this process. */
export async function chooseEngine(url: string | undefined): Promise<ChosenEngine> {
  if (url !== undefined && url !== "") {
    return onRedis(url, (target) => `Using the Redis at ${target}, because REDIS_URL is set.`, undefined);
  }
  const server = await privateServer();
  if (server === undefined) return inMemory();
  const why = "because REDIS_URL is not set and redis-server is on the PATH";
  try {
    return await onRedis(server.url, (target) => `Using a private Redis at ${target}, ${why}.`, server);
  } catch (error) {
    await server.stop();
    throw error;
  }
}

async function onRedis(
  url: string,
  reason: (target: string) => string,
  server: RedisServer | undefined,
): Promise<ChosenEngine> {
  const queue = `demo-${randomUUID()}`;
  const warmUpQueue = `${queue}-warm-up`;
  const connector = connectorTo(url);
  const connection = await reach(connector);
  const time = await followServerTime(connection);
  // A private Redis keeps nothing on a disk, as it should.
  const engine = redisEngine({ url, prefix, ...(server === undefined ? {} : { onWarning: () => {} }) });
  return {
    engine,
    queue,
    warmUpQueue,
    reason: reason(connector.target),
    now: () => time.now(),
    async leave() {
      time.stop();
      // First the engine: a call of it that is still under way could bring keys back.
      await engine.close();
      try {
        if (server === undefined) await removeQueues(connection, [queue, warmUpQueue]);
      } finally {
        connection.destroy();
        await server?.stop();
      }
    },
  };
}

function connectorTo(url: string): Connector {
  try {
    return nodeRedis({ url });
  } catch (error) {
    throw new CannotRun(`REDIS_URL cannot be used. ${sentenceOf(error)}.`, { cause: error });
  }
}

async function reach(connector: Connector): Promise<Connection> {
  let connection: Connection | undefined;
  try {
    connection = await connector.connect(connectTimeout);
    // A server that takes connections may still refuse commands, for want of a password.
    await connection.send(["PING"]);
    return connection;
  } catch (error) {
    connection?.destroy();
    throw new CannotRun(
      `The Redis at ${connector.target} cannot be used: ${sentenceOf(error)}. Start it, correct REDIS_URL, or unset REDIS_URL.`,
      { cause: error },
    );
  }
}

/** Removes the keys of the demo's own queues, each by its name. */
async function removeQueues(connection: Connection, queues: readonly string[]): Promise<void> {
  for (const queue of queues) {
    const { channel: _, ...keys } = queueKeys(prefix, queue);
    try {
      await connection.send(["UNLINK", ...Object.values(keys)]);
    } catch (error) {
      throw new CannotRun(`The keys {${prefix}:${queue}}:* could not be removed: ${sentenceOf(error)}.`, {
        cause: error,
      });
    }
  }
}

/** A Redis of our own, or undefined when there is no redis-server to start. */
async function privateServer(): Promise<RedisServer | undefined> {
  try {
    return await startRedisServer();
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined;
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return undefined;
    throw new CannotRun(`${sentenceOf(error)}.`, { cause: error });
  }
}

function inMemory(): ChosenEngine {
  const engine = memoryEngine();
  const queue = "demo";
  const { clock } = engine.open(queue);
  return {
    engine,
    queue,
    warmUpQueue: `${queue}-warm-up`,
    reason:
      "Using the memory of this process, because REDIS_URL is not set and there is no redis-server on the PATH. " +
      "Install Redis to see the real thing.",
    now: () => clock.now(),
    leave: () => engine.close(),
  };
}
