import { describe, expect, it } from "vitest";
import type { EngineQueue } from "../../../src/engine.js";
import { zsetStreamEngine } from "../../../src/engines/zset-stream/engine.js";
import { newMessage } from "../../../src/testing/conformance/stage.js";
import { closedAtEnd } from "../../support/closed-at-end.js";
import { FaultProxy, isCommand } from "../../support/fault-proxy.js";
import { withRedis } from "../../support/with-redis.js";

const redis = withRedis();
const ids = Array.from({ length: 300 }, (_, n) => `m${n}`);

async function buryAll(queue: EngineQueue): Promise<void> {
  for (let left = ids.length; left > 0;) {
    const token = `t${left}`;
    const { messages, leaseUntil } = await queue.claim({
      limit: 300,
      lease: 60_000,
      consumer: "c",
      token,
      attempts: 5,
    });
    await queue.bury(messages.map(({ id }) => ({ id, token, leaseUntil, reason: "poison" })));
    left -= messages.length;
  }
}

// Of 300 messages these do 125 or 200 in one call; before the first there are calls that only look.
const operations: [name: string, calls: number, done: number, run: (queue: EngineQueue) => Promise<number>][] = [
  ["A revive of all", 3, 125, (queue) => queue.revive("all", { delay: 60_000 })],
  ["A revive of some", 2, 125, (queue) => queue.revive(ids, { delay: 60_000 })],
  ["A remove", 3, 250, (queue) => queue.remove(ids)],
  ["A purge of what is dead", 4, 250, (queue) => queue.purge("dead")],
  ["A purge of what waits", 4, 200, (queue) => queue.purge("waiting")],
];

describe.each(operations)("%s that fails half-way", (name, calls, done, run) => {
  it("says how much was done before", async () => {
    await using proxy = await FaultProxy.start(redis.server.port);
    const engine = closedAtEnd(zsetStreamEngine({ url: proxy.url }));
    const queue = engine.open(name.replaceAll(" ", "-"));
    // So that Redis knows the scripts, and the engine the groups.
    for (const [, , , first] of operations) await first(queue);
    await queue.cancel(["none"]);
    await queue.schedule(ids.map((id) => newMessage(id)));
    if (!name.endsWith("waits")) await buryAll(queue);

    const fault = proxy.plan("hold", isCommand("EVALSHA"), calls);
    const failure = run(queue).catch((error: unknown) => error);
    await fault.happened;
    await engine.close();
    fault.release();
    expect(await failure).toMatchObject({ code: "closed", details: { done } });
  });
});
