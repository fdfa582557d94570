import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { nodeRedis } from "../../clients/node-redis.js";
import { type CommandArgument, CommandFailure, type Connector, type Reply } from "../../clients/port.js";
import type { EngineQueue } from "../../engine.js";
import { type RedisServer, startRedisServer } from "../../testing/redis-server.js";
import { queueKeys } from "./keys.js";
import { RedisQueue } from "./redis-queue.js";
import { Supervisor } from "../../connection/supervisor.js";

/** An attempt that hung on its way comes to run after its repetition was answered, and its caller has done something else. */

let server: RedisServer;
beforeAll(async () => {
  server = await startRedisServer();
});
afterAll(() => server.stop());

/** Takes the next script that it is told to off the connection, as if that were cut; it reaches the server at `release`. */
class HoldingConnector implements Connector {
  readonly target: string;
  readonly #connector: Connector;
  #skip = Infinity;
  #held: readonly CommandArgument[] = [];

  constructor(connector: Connector) {
    this.#connector = connector;
    this.target = connector.target;
  }

  /** Holds the next script, or the one after `skip` others. */
  hold(skip: number): void {
    this.#skip = skip;
  }

  async release(): Promise<Reply> {
    const connection = await this.#connector.connect(1_000);
    return await connection.send(this.#held).finally(() => connection.destroy());
  }

  async connect(timeout: number): ReturnType<Connector["connect"]> {
    const connection = await this.#connector.connect(timeout);
    return {
      send: async (command) => {
        if (command[0] !== "EVALSHA" || --this.#skip !== -1) return await connection.send(command);
        this.#skip = Infinity;
        this.#held = command;
        throw new CommandFailure("unknown", "read ECONNRESET");
      },
      subscribe: (...subscription) => connection.subscribe(...subscription),
      unsubscribe: (channel) => connection.unsubscribe(channel),
      onLost: (listener) => connection.onLost(listener),
      destroy: () => connection.destroy(),
    };
  }
}

const message = { id: "m", payload: Buffer.from("x"), due: { delay: 3_600_000 }, onDuplicate: "keep" } as const;
type Call = (queue: EngineQueue) => Promise<unknown>;
/** First what is held, then what its caller does once that is answered; and what must be so afterwards. */
const stories: Record<string, { before?: Call; held: Call; after: Call; look: Call; expected: unknown }> = {
  schedule: {
    held: (queue) => queue.schedule([message]),
    after: (queue) => queue.cancel(["m"]),
    look: (queue) => queue.get(["m"]),
    expected: [undefined],
  },
  cancel: {
    before: (queue) => queue.schedule([message]),
    held: (queue) => queue.cancel(["m"]),
    after: (queue) => queue.schedule([message]),
    look: async (queue) => (await queue.get(["m"])).map((found) => found?.id),
    expected: ["m"],
  },
  pause: {
    held: (queue) => queue.pause(),
    after: (queue) => queue.resume(),
    look: async (queue) => (await queue.counts()).paused,
    expected: false,
  },
  resume: {
    before: (queue) => queue.pause(),
    held: (queue) => queue.resume(),
    after: (queue) => queue.pause(),
    look: async (queue) => (await queue.counts()).paused,
    expected: true,
  },
  purge: {
    before: (queue) => queue.schedule([message]),
    held: (queue) => queue.purge("waiting"),
    after: (queue) => queue.schedule([message]),
    look: async (queue) => (await queue.get(["m"])).map((found) => found?.id),
    expected: ["m"],
  },
};

describe("Once it was answered, nothing is done any more by", () => {
  it.concurrent.each(Object.entries(stories))(
    "%s",
    { timeout: 20_000 },
    async (name, { before, held, after, look, expected }) => {
      const connector = new HoldingConnector(nodeRedis({ url: server.url }));
      const calls = new Supervisor({ connector });
      const bounded = { max: undefined, maxAge: undefined };
      const open = (queue: string) =>
        new RedisQueue({ work: calls, calls, keys: queueKeys("late", queue), rememberFor: 0, bounded });
      // So that the server knows the scripts.
      await held(open(`${name}-before`));
      const queue = open(name);
      await before?.(queue);
      // A purge begins with a reclaim, which may come late.
      connector.hold(name === "purge" ? 1 : 0);
      await held(queue);
      await after(queue);
      await expect(connector.release()).rejects.toMatchObject({ code: "TOOLATE" });
      expect(await look(queue)).toEqual(expected);
      await calls.close();
    },
  );
});
