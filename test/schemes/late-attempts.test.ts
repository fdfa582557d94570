import { describe, it } from "vitest";
import { nodeRedis } from "../../src/clients/node-redis.js";
import { type CommandArgument, CommandFailure, type Connector } from "../../src/clients/port.js";
import { Supervisor } from "../../src/connection/supervisor.js";
import type { EngineQueue, NewMessage } from "../../src/engine.js";
import { keyExpiryKeys } from "../../src/engines/key-expiry/keys.js";
import { KeyExpiryQueue } from "../../src/engines/key-expiry/key-expiry-queue.js";
import { PlainQueue } from "../../src/engines/zset-list/plain-queue.js";
import { ZsetRemoveQueue } from "../../src/engines/zset-remove/zset-remove-queue.js";
import { ZsetWatchQueue } from "../../src/engines/zset-watch/zset-watch-queue.js";
import { memberKeys } from "../../src/schemes/member-keys.js";
import type { SchemeContext } from "../../src/schemes/scheme-queue.js";
import { wakingKeys } from "../../src/waking/keys.js";
import { withRedis } from "../support/with-redis.js";

/** An attempt that hung on its way comes to run after its repetition stored the message, and somebody has taken it. */

const redis = withRedis();

const engines: Record<string, (context: SchemeContext, base: string) => EngineQueue> = {
  "zset-remove": (context, base) => new ZsetRemoveQueue(context, memberKeys(base), {}),
  "zset-watch": (context, base) => new ZsetWatchQueue(context, memberKeys(base), {}),
  "zset-list": (context, base) =>
    new PlainQueue(context, { ...wakingKeys(base), schedule: `${base}:schedule`, ready: `${base}:ready` }, {}),
  "key-expiry": (context, base) => new KeyExpiryQueue(context, keyExpiryKeys(base), {}),
};

const message = (id: string, delay: number): NewMessage => ({
  id,
  payload: Buffer.from(id),
  due: { delay },
  onDuplicate: "keep",
});

/** Takes the next script off the connection once it is told to, as if that were cut; it reaches the server at `release`. */
function holding(connector: Connector) {
  let holds = false;
  let held: readonly CommandArgument[] = [];
  const connect: Connector["connect"] = async (timeout) => {
    const connection = await connector.connect(timeout);
    return {
      send: async (command) => {
        if (command[0] !== "EVALSHA" || !holds) return await connection.send(command);
        [holds, held] = [false, command];
        throw new CommandFailure("unknown", "read ECONNRESET");
      },
      subscribe: (...subscription) => connection.subscribe(...subscription),
      unsubscribe: (channel) => connection.unsubscribe(channel),
      onLost: (listener) => connection.onLost(listener),
      destroy: () => connection.destroy(),
    };
  };
  return {
    connector: { target: connector.target, connect },
    hold: () => void (holds = true),
    release: async () => {
      const connection = await connector.connect(1_000);
      return await connection.send(held).finally(() => connection.destroy());
    },
  };
}

/** A queue, and another process's view of it. */
function twoOf(engine: string, base: string) {
  const { connector, hold, release } = holding(nodeRedis({ url: redis.url }));
  const supervisors: Supervisor[] = [];
  const open = (through: Connector) => {
    const connect = () => {
      const supervisor = new Supervisor({ connector: through });
      supervisors.push(supervisor);
      return supervisor;
    };
    const work = connect();
    return engines[engine]?.({ engine, work, calls: work, connect }, base) as EngineQueue;
  };
  const [queue, other] = [open(connector), open(nodeRedis({ url: redis.url }))];
  const close = () => Promise.all(supervisors.map((supervisor) => supervisor.close()));
  return { queue, other, hold, release, [Symbol.asyncDispose]: async () => void (await close()) };
}

let claims = 0;

async function take(queue: EngineQueue, lease = 60_000) {
  const token = `t-${++claims}`;
  const { messages, leaseUntil } = await queue.claim({ limit: 10, lease, consumer: "c", token, attempts: 5 });
  return messages.map(({ id }) => ({ id, token, leaseUntil }));
}

async function takeOne(queue: EngineQueue): Promise<string | undefined> {
  return (await take(queue))[0]?.id;
}

describe.concurrent.each(Object.keys(engines))("A message of %s is not stored again once it was taken", (engine) => {
  it("by an attempt to schedule it that hung", { timeout: 20_000 }, async ({ expect }) => {
    const base = `{late}:${engine}:schedule`;
    await using both = twoOf(engine, base);
    const { queue, other, hold, release } = both;
    await queue.schedule([message("before", 3_600_000)]);
    await redis.raw.command("HSET", `${base}:state`, "repeated", "over 1;under-way 8640000000000000;");
    hold();
    const scheduled = queue.schedule([message("m", 300)]);
    await expect.poll(() => takeOne(other), { timeout: 5_000 }).toBe("m");
    await expect(release()).rejects.toMatchObject({ code: "TOOLATE" });
    expect(await scheduled).toMatchObject([{ outcome: "scheduled" }]);
    expect(await other.counts()).toMatchObject({ scheduled: 1, due: 0 });
    // What is over is forgotten, so that the field does not grow.
    expect(await redis.raw.text("HGET", `${base}:state`, "repeated")).toMatch(
      /^[\w-]+ \d{13};under-way 8640000000000000;$/,
    );
  });

  it("by an attempt to put it back that hung", { timeout: 20_000 }, async ({ expect }) => {
    await using both = twoOf(engine, `{late}:${engine}:retry`);
    const { queue, other, hold, release } = both;
    await queue.schedule([message("m", 0)]);
    const receipts = await take(queue);
    hold();
    const retried = queue.retry(receipts.map((receipt) => ({ ...receipt, delay: 300 })));
    await expect.poll(() => takeOne(other), { timeout: 5_000 }).toBe("m");
    await expect(release()).rejects.toMatchObject({ code: "TOOLATE" });
    expect(await retried).toEqual(["settled"]);
    expect(await other.counts()).toMatchObject({ scheduled: 0, due: 0 });
  });
});
