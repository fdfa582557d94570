import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FaultStage } from "./fault-stage.js";
import { Load } from "./load.js";
import type { RecordedConsumer } from "./recorded-consumer.js";

let stage: FaultStage;
let consumers: RecordedConsumer[];
beforeEach(async () => {
  stage = await FaultStage.start();
  consumers = ["a", "b", "c"].map((name) => stage.consumer({ name }));
  await stage.running(...consumers);
});
afterEach(() => stage[Symbol.asyncDispose]());

/** Sends a command past the proxy so many times, `every` ms; gives what it was answered. */
const hammer = (times: number, every: number, ...command: string[]) =>
  stage.raw(async (raw) => {
    const answers: unknown[] = [];
    for (; answers.length < times; await sleep(every)) answers.push(await raw.text(...command));
    return answers;
  });

/** Nobody is answered and no connection ends: who waits for a reply notices in 2 s, who sleeps when its last one is 7.5 s old. */
const silence = (ms: number, fault: () => unknown, heal: () => unknown) =>
  stage.outage(7_600, fault, () => sleep(ms), heal);

/** The consumers that said in the last outage that they are recovering. */
const noticed = () => {
  const { from = 0, to = 0 } = stage.history.outages.at(-1) ?? {};
  const told = stage.history.of("health").filter(({ at, state }) => state === "recovering" && at > from && at < to);
  return new Set(told.map(({ consumer }) => consumer));
};

describe("Under load, nothing is lost, doubled, early or miscounted, and all work again", { timeout: 30_000 }, () => {
  it.each([["normal"], ["pubsub"]])(
    "while connections of the kind %s are killed 15 times, 200 ms apart",
    async (kind) => {
      const load = await Load.start(stage, { messages: 3_000, lasts: 3_000 });
      const killed = (await hammer(15, 200, "CLIENT", "KILL", "TYPE", kind)).map(Number);
      // Consumers listen on the connection that they claim on, so it counts as one of pub/sub; producers have the others.
      expect(Math.max(...killed)).toBeGreaterThan(0);
      await stage.everyoneWorks(consumers);
      await load.drained();
      expect(stage.history.of("recovered").length > 0).toBe(kind === "pubsub");
      expect(await stage.problems({ schedulesRepeat: true })).toEqual([]);
    },
  );

  it("while the scripts are flushed 30 times, 100 ms apart, which no consumer takes for an outage", async () => {
    const load = await Load.start(stage, { messages: 3_000, lasts: 3_000 });
    await hammer(30, 100, "SCRIPT", "FLUSH");
    await stage.everyoneWorks(consumers);
    await load.drained();
    const { history } = stage;
    expect([...history.of("failed"), ...history.of("recovered"), ...history.of("lost")]).toEqual([]);
    expect(await stage.problems()).toEqual([]);
  });

  it.each([
    ["when Redis is frozen", () => stage.server.pause(), () => stage.server.continue()],
    ["in a black hole, with every socket open", () => stage.proxy.blackHole(), () => stage.proxy.heal()],
  ])("%s for 3 s, longer than a command may wait", async (_, fault, heal) => {
    const load = await Load.start(stage, { messages: 2_000, lasts: 2_000 });
    await stage.history.until(() => stage.history.acknowledged.size > 200, "the load is under way");
    const healedAt = await silence(3_000, fault, heal);
    await stage.everyoneWorks(consumers, healedAt);
    await load.drained();
    expect(noticed().size).toBeGreaterThan(0);
    expect(await stage.problems({ schedulesRepeat: true })).toEqual([]);
  });
});

describe("When consumers sleep until a far message,", () => {
  it("one that comes due in a black hole of 8 s is delivered within 5 s after it, with nothing else scheduled", async () => {
    const { history, producer, proxy } = stage;
    await producer.schedule("far", "succeed", 500);
    const healedAt = await silence(
      8_000,
      () => proxy.blackHole(),
      () => proxy.heal(),
    );
    await history.until(() => history.isAcknowledged("far"), "it is acknowledged", healedAt + 5_000 - Date.now());
    expect(noticed()).toEqual(new Set(["a", "b", "c"]));
    expect(history.starts.get("far")).toHaveLength(1);
    await stage.everyoneWorks(consumers, healedAt);
    expect(await stage.problems()).toEqual([]);
  });

  it("a nearer one still wakes them after the connections of all who listen were killed", async () => {
    const { history, producer } = stage;
    await producer.schedule("far", "succeed", 3_600_000);
    await stage.raw((raw) => raw.command("CLIENT", "KILL", "TYPE", "pubsub"));
    await history.until(() => history.of("recovered").length === 3, "all have recovered");
    await producer.schedule("near", "succeed", 300);
    const { at, dueAt } = await history.until(() => history.start("near"), "it is delivered");
    expect(at - dueAt).toBeLessThan(500);
    await history.until(() => history.isAcknowledged("near"), "it is acknowledged");
    expect(await stage.problems()).toEqual([]);
  });
});
