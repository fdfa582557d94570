import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { redisEngine } from "../../../src/engines/redis/engine.js";
import { queueKeys } from "../../../src/engines/redis/keys.js";
import { sources } from "../../../src/engines/redis/scripts/sources.generated.js";
import { Queue } from "../../../src/queue.js";
import { defineScript } from "../../../src/scripting/script.js";
import { type RedisServer, startRedisServer } from "../../../src/testing/redis-server.js";
import { closedAtEnd } from "../../support/closed-at-end.js";
import { runs } from "../../support/fault-proxy.js";
import { FaultStage } from "./fault-stage.js";
import type { Entry } from "./history.js";
import { codeOf, RecordedConsumer } from "./recorded-consumer.js";
import type { Task } from "./task.js";

/** Redis comes back without anything that it had, under producers and consumers that go on. */

const libraries = ["node-redis", "ioredis"] as const;
const far = 3_600_000;

let server: RedisServer;
let stage: FaultStage;
beforeEach(async () => {
  // It writes no files.
  server = await startRedisServer();
});
afterEach(async () => {
  await stage[Symbol.asyncDispose]();
  await server.stop();
});

/** Redis ends, and is there again, with nothing, when `meanwhile` is over. Gives when. */
async function losesAll(meanwhile: () => Promise<unknown> = async () => {}): Promise<number> {
  return await stage.outage(
    500,
    () => server.kill(),
    meanwhile,
    () => server.restart(),
  );
}

/** Forgets what the history knows of messages that Redis has lost. */
const forget = (...ids: readonly string[]) => ids.forEach((id) => stage.history.asked.delete(id));

/** Consumers tell the begin of an outage once, as an error, and its end. */
const isOfOutage = (entry: Entry) => entry.kind === "recovered" || (entry.kind === "failed" && entry.id === undefined);

describe.each(libraries)("When Redis comes back empty under %s", (library) => {
  beforeEach(async () => {
    stage = await FaultStage.on(server, "orders", library);
  });

  it("all work again within 5 s, paused or not before, and leases of before get lease-lost", async () => {
    const { history, producer, queue } = stage;
    const consumers = ["a", "b", "c"].map((name) => stage.consumer({ name }));
    await stage.running(...consumers);
    await producer.scheduleAll([
      { id: "by hand", plan: "hold", delay: 0 },
      { id: "far", plan: "succeed", delay: far },
    ]);
    await history.until(() => history.start("by hand"), "it is held");
    await queue.pause();
    const healedAt = await losesAll();
    await stage.everyoneWorks(consumers, healedAt);
    // Whoever held it was let go with the probes.
    await history.until(() => history.of("refused", { id: "by hand" })[0], "its acknowledgement is refused");
    expect(history.of("refused", { id: "by hand" }).map(({ code }) => code)).toEqual(["lease-lost"]);
    expect(await queue.counts()).toEqual({ scheduled: 0, due: 0, leased: 0, dead: 0, paused: false });
    expect(await producer.schedule("far", "succeed", far)).toBe("scheduled");
    // A reply that takes over 2 s is an outage of its own, with an end of its own.
    for (const { name } of consumers) {
      const told = history.entries.filter((entry) => entry.consumer === name && isOfOutage(entry));
      expect(told.map(({ kind }) => kind)).toEqual(told.map((_, n) => (n % 2 === 0 ? "failed" : "recovered")));
      expect(told.at(-1)?.kind).toBe("recovered");
    }
    forget("by hand");
    history.starts.delete("by hand");
    expect(await stage.problems()).toEqual([]);
  });

  it("a handler that goes on is told that its lease is lost when that is to be extended, and the id is free for another message", async () => {
    const { history, producer } = stage;
    const consumer = stage.consumer({ name: "a", lease: 1_500 });
    await stage.running(consumer);
    await producer.schedule("m", "hold", 0);
    await history.until(() => history.start("m"), "it is held");
    await losesAll();
    const { code } = await history.until(() => history.of("lost", { id: "m" })[0], "it is told");
    expect(code).toBe("lease-lost");
    consumer.letGo();
    await history.until(() => history.of("refused", { id: "m" })[0], "its acknowledgement is refused");
    expect(await producer.schedule("m", "succeed", 0)).toBe("scheduled");
    await history.until(() => history.isAcknowledged("m"), "the new one is acknowledged");
    expect(history.starts.get("m")?.map(({ attempt }) => attempt)).toEqual([1, 1]);
  });

  it("calls that were made meanwhile are answered within 5 s of it, each with what is true now", async () => {
    const { queue, producer } = stage;
    await producer.schedule("lost", "succeed", far);
    let answers: Promise<unknown[]> | undefined;
    const healedAt = await losesAll(async () => {
      const task = { plan: "succeed", text: "m" } as const;
      // Nobody waits any more for a reply on the old connection when this one is over.
      const inVain = queue.schedule(task, { id: "in vain", delay: far, timeout: 300 }).catch(codeOf);
      expect(["not-sent", "outcome-unknown"]).toContain(await inVain);
      const asked: Promise<unknown>[] = [
        queue.schedule(task, { id: "m", delay: far }).then(({ outcome }) => outcome),
        queue.cancel("lost"),
        queue.cancel("never there"),
        queue.reschedule("lost", { delay: far }),
        queue.get("lost"),
        queue.revive("all"),
        queue.remove(["lost"]),
        queue.purge("dead"),
        queue.resume(),
        queue.repair().then(({ ok }) => ok),
      ];
      answers = Promise.all(asked.map((call) => call.catch(codeOf)));
    });
    const told = await answers;
    expect(Date.now() - healedAt).toBeLessThan(5_000);
    expect(told).toEqual(["scheduled", "absent", "absent", "absent", undefined, 0, 0, 0, undefined, true]);
    expect(await queue.counts()).toMatchObject({ scheduled: 1, due: 0, leased: 0, dead: 0 });
    expect(await queue.audit()).toMatchObject({ ok: true });
  });

  it("a queue in partitions works again, and notes anew into how many it is split, before others split it otherwise", async () => {
    const split = (partitions: number) =>
      new Queue<Task>("split", { engine: closedAtEnd(redisEngine({ url: server.url, library, partitions })) });
    const queue = split(3);
    const { history } = stage;
    const consumer = closedAtEnd(new RecordedConsumer(queue, { name: "a" }, history.add));
    await stage.running(consumer);
    const note = () => stage.raw((raw) => raw.text("HGET", queueKeys("punctual", "split").state, "partitions"));
    const deliver = async (...ids: readonly string[]) => {
      await queue.scheduleMany(ids.map((id) => ({ payload: { plan: "succeed", text: id }, id, delay: 0 })));
      await history.until(() => history.isAcknowledged(...ids), "all are delivered");
    };
    await deliver(...Array.from({ length: 20 }, (_, n) => `before-${n}`));
    expect(await note()).toBe("3");
    await losesAll();
    await deliver(...Array.from({ length: 20 }, (_, n) => `after-${n}`));
    expect(await note()).toBe("3");
    await expect(split(2).counts()).rejects.toMatchObject({ code: "misconfigured", message: /is split into 3/ });
    expect(await queue.audit()).toMatchObject({ ok: true });
  });

  it("nothing of a queue in partitions runs before its number is noted, neither calls made meanwhile nor claims", async () => {
    const engine = closedAtEnd(redisEngine({ url: stage.proxy.url, library, partitions: 3 }));
    const queue = new Queue<Task>("split", { engine });
    const { history, proxy } = stage;
    const consumer = closedAtEnd(new RecordedConsumer(queue, { name: "a" }, history.add));
    await stage.running(consumer);
    const ids = Array.from({ length: 20 }, (_, n) => `m-${n}`);
    const isNote = runs(defineScript("enlist", sources["enlist"]));
    const note = proxy.plan("hold", isNote);
    let isNoted = false;
    const tooEarly: string[] = [];
    let notes = 0;
    let answers: Promise<unknown> | undefined;
    await losesAll(async () => {
      answers = queue.scheduleMany(ids.map((id) => ({ payload: { plan: "succeed", text: id }, id, delay: 0 })));
      // Strikes nothing: it sees all that comes.
      proxy.plan("hold", (request) => {
        if (isNote(request)) notes += 1;
        else if (!isNoted && request.command === "EVALSHA") tooEarly.push(String(request.args[0]));
        return false;
      });
    });
    await Promise.race([note.happened, answers]);
    isNoted = true;
    note.release();
    await answers;
    await history.until(() => history.isAcknowledged(...ids), "all are delivered");
    expect(tooEarly).toEqual([]);
    // One for each of the two connections that all partitions share, and one more where its script was not there yet.
    expect(notes).toBeLessThanOrEqual(3);
  });
});
