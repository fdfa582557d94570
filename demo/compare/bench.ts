import { nodeRedis } from "../../src/clients/node-redis.js";
import type { Connection } from "../../src/clients/port.js";
import { startRedisServer } from "../../src/testing/redis-server.js";
// oxlint-disable-next-line no-restricted-imports -- the comparison is not published either
import { startRabbitmqServer } from "../../test/support/rabbitmq-server.js";
import { sentenceOf } from "../sentence.js";
import { followServerTime, type ServerTime } from "../server-time.js";
import type { Server } from "./subjects.js";

/** The private servers of a comparison, and the clock by which all is judged: that of the Redis, on this machine. */
export interface Bench extends AsyncDisposable {
  /** Where each server is; one that could not be started is not there. */
  readonly urls: { readonly redis: string; readonly rabbitmq: string | undefined };
  readonly connection: Connection;
  readonly time: ServerTime;
}

/** Starts what is needed. Without a RabbitMQ on this machine it says so on stderr, and the comparison goes on without. */
export async function openBench(needed: ReadonlySet<Server>, startBroker = startRabbitmqServer): Promise<Bench> {
  const redis = await startRedisServer();
  const rabbitmq = needed.has("rabbitmq")
    ? await startBroker().catch((error: unknown) => {
        console.error(`rabbitmq is left out: ${sentenceOf(error)}.`);
        return undefined;
      })
    : undefined;
  const connection = await nodeRedis({ url: redis.url }).connect(3_000);
  const time = await followServerTime(connection);
  return {
    urls: { redis: redis.url, rabbitmq: rabbitmq?.url },
    connection,
    time,
    async [Symbol.asyncDispose]() {
      time.stop();
      connection.destroy();
      await Promise.all([redis.stop(), rabbitmq?.stop()]);
    },
  };
}
