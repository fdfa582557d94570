import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { sources } from "../../../src/engines/redis/scripts/sources.generated.js";
import { defineScript } from "../../../src/scripting/script.js";
import { runs } from "../../support/fault-proxy.js";
import { clockLibrary, SteppedRedis } from "../../support/stepped-redis.js";
import { FaultStage } from "./fault-stage.js";
import type { History } from "./history.js";
import { Load } from "./load.js";
import type { RecordedConsumer } from "./recorded-consumer.js";

/** The clock of Redis is set while producers and consumers work: due times and leases step with it, and nothing else goes wrong. */

// Elsewhere there are other functions to take the place of.
const libraries = process.platform === "linux" ? (["node-redis", "ioredis"] as const) : [];
const hour = 3_600_000;
/** Consumers claim every 5 s at the latest, and the reply tells them the time; what it takes to hear it comes on top, ms. */
const polledWithin = 5_500;
/** How late a machine may be that does much else, ms. */
const onTime = 500;

let library: Awaited<ReturnType<typeof clockLibrary>>;
let redis: SteppedRedis | undefined;
let stage: FaultStage | undefined;
beforeAll(async () => {
  if (libraries.length > 0) library = await clockLibrary();
});
afterAll(() => library?.[Symbol.asyncDispose]());
afterEach(async () => {
  await stage?.[Symbol.asyncDispose]();
  await redis?.[Symbol.asyncDispose]();
  stage = redis = undefined;
});

/** Three consumers that run, on a Redis whose clock is so far ahead. */
async function crewAt(ahead: number, client: (typeof libraries)[number]) {
  redis = await SteppedRedis.start(library.path, ahead);
  stage = await FaultStage.on(redis.server, "orders", client);
  const consumers = ["a", "b", "c"].map((name) => stage!.consumer({ name }));
  await stage.running(...consumers);
  return { redis, stage, consumers, history: stage.history, producer: stage.producer };
}

/** Messages that started before they were due by the clock of Redis. */
function early({ starts }: History, clock: SteppedRedis): string[] {
  const all = [...starts.values()].flat();
  return all.filter(({ at, dueAt }) => dueAt > clock.latest(at)).map(({ id }) => id);
}

/** What is wrong with the run but for due times, which the checker holds against the clock of this machine. */
async function otherProblems(of: FaultStage, clock: SteppedRedis) {
  const { asked, entries, starts } = of.history;
  for (const [place, entry] of entries.entries()) {
    if (entry.kind !== "health" || entry.lastClaimAt === undefined) continue;
    entries[place] = { ...entry, lastClaimAt: clock.here(entry.lastClaimAt, entry.at) };
  }
  for (const [id, { told, ...rest }] of asked) {
    asked.set(id, { ...rest, earliest: 0, ...(told && { told: "dueAt" in told ? { ...told, dueAt: 0 } : told }) });
  }
  for (const [id, deliveries] of starts) {
    starts.set(
      id,
      deliveries.map((start) => ({ ...start, dueAt: 0 })),
    );
  }
  return of.problems({ leasesMayEnd: true });
}

const scripts = (of: FaultStage) =>
  of.raw(async (raw) => {
    const told = String(await raw.text("INFO", "commandstats"));
    return Number(/^cmdstat_evalsha:calls=(\d+)/m.exec(told)?.[1] ?? 0);
  });

/** Schedules a message and waits until it is done; gives how late it started, by the clock of Redis, ms. */
async function lateness({ history, producer }: FaultStage, clock: SteppedRedis, id: string): Promise<number> {
  expect(await producer.schedule(id, "succeed", 1_500)).toBe("scheduled");
  await history.until(() => history.isAcknowledged(id), `${id} is acknowledged`, polledWithin);
  const { at, dueAt } = history.start(id)!;
  return at + clock.ahead - dueAt;
}

/** One consumer has a message in hand. */
async function held({ history, producer }: FaultStage): Promise<string> {
  await producer.schedule("held", "hold", 0);
  return (await history.until(() => history.start("held"), "somebody has it")).consumer;
}

const letGo = (consumers: readonly RecordedConsumer[]) => consumers.forEach((consumer) => consumer.letGo());

describe.each(libraries)("When the clock of Redis steps under consumers on %s", (client) => {
  it("forward by an hour and back while they are idle, they find out by themselves, in 5 s and without haste", async () => {
    const { redis: clock, stage: on, history, producer } = await crewAt(0, client);
    await producer.schedule("due by the step", "succeed", hour / 2);
    await producer.schedule("due later", "succeed", 2 * hour);
    const before = await scripts(on);
    clock.stepTo(hour);
    await history.until(() => history.isAcknowledged("due by the step"), "it is acknowledged", polledWithin);
    expect(await lateness(on, clock, "near")).toBeLessThan(onTime);
    clock.stepTo(0);
    expect(await lateness(on, clock, "near after it")).toBeLessThan(onTime);
    // Three consumers, of which the first to hear of a step claim at once, three messages, and the polls.
    expect((await scripts(on)) - before).toBeLessThan(50);
    expect(history.of("failed")).toEqual([]);
    expect([...history.starts.keys()]).not.toContain("due later");
    expect(early(history, clock)).toEqual([]);
    expect(await otherProblems(on, clock)).toEqual([]);
  });

  it("forward by an hour under load, what is due by then comes, leases that ended by then are fenced, and nothing is lost", async () => {
    const { redis: clock, stage: on, consumers, history, producer } = await crewAt(0, client);
    await producer.schedule("due by the step", "succeed", hour / 2);
    const holder = await held(on);
    const load = await Load.start(on, { messages: 2_000, lasts: 2_000 });
    await history.until(() => history.acknowledged.size > 200, "the load is under way");
    clock.stepTo(hour);
    await history.until(() => history.isAcknowledged("due by the step"), "it is acknowledged", polledWithin);
    const { attempt } = await history.until(() => history.start("held", undefined, 2), "it is held again");
    expect(attempt).toBe(2);
    await history.until(() => history.of("lost", { id: "held", consumer: holder })[0], "the first one is told");
    letGo(consumers);
    await history.until(() => history.isAcknowledged("held"), "it is acknowledged");
    expect(history.of("refused", { id: "held" })).toMatchObject([{ consumer: holder, code: "lease-lost" }]);
    expect(history.of("settled", { id: "held" })).toHaveLength(1);
    await on.everyoneWorks(consumers);
    for (const told of await load.drained()) expect(["scheduled", "cancelled", "leased", "absent"]).toContain(told);
    expect(early(history, clock)).toEqual([]);
    expect(await otherProblems(on, clock)).toEqual([]);
  });

  it("back by an hour under load, nothing comes early, leases last, all work on, and what waits comes when it is due", async () => {
    const { redis: clock, stage: on, consumers, history } = await crewAt(hour, client);
    await held(on);
    const load = await Load.start(on, { messages: 2_000, lasts: 2_000 });
    await history.until(() => history.acknowledged.size > 200, "the load is under way");
    clock.stepTo(0);
    await on.everyoneWorks(consumers);
    expect(history.isAcknowledged("held")).toBe(true);
    expect(history.starts.get("held")).toHaveLength(1);
    for (const told of await load.over()) expect(["scheduled", "cancelled", "leased", "absent"]).toContain(told);
    // What was scheduled before the step and not yet due.
    expect((await on.queue.counts()).scheduled).toBeGreaterThan(100);
    clock.stepTo(hour);
    await load.drained();
    expect(early(history, clock)).toEqual([]);
    expect(await otherProblems(on, clock)).toEqual([]);
  });

  it.each([
    ["back", hour, 0],
    ["forward", 0, hour],
  ])(
    "%s while replies are lost, calls and claims are answered in 5 s and what they did is known",
    async (_, from, to) => {
      const { redis: clock, stage: on, consumers, history, producer } = await crewAt(from, client);
      await producer.schedule("first", "succeed", 0);
      await history.until(() => history.isAcknowledged("first"), "everyone is connected");
      // Before the step nothing comes back that is cut off here, so it is repeated after it.
      on.proxy.refuse();
      const lost = (["schedule", "claim"] as const).map((name) =>
        on.proxy.plan("cut-before-reply", runs(defineScript(name, sources[name]))),
      );
      const began = performance.now();
      // In hand until it is known to be stored: what is done before that would be stored once more.
      const scheduled = producer.schedule("m", "hold", 0);
      await Promise.all(lost.map(({ happened }) => happened));
      clock.stepTo(to);
      on.proxy.heal();
      expect(await scheduled).toBe("scheduled");
      expect(performance.now() - began).toBeLessThan(polledWithin);
      await history.until(() => history.start("m"), "somebody has it", polledWithin);
      letGo(consumers);
      await history.until(() => history.isAcknowledged("m"), "it is acknowledged");
      expect(history.starts.get("m")).toHaveLength(1);
      expect(early(history, clock)).toEqual([]);
      expect(await otherProblems(on, clock)).toEqual([]);
    },
  );
});

describe("A machine without a C compiler", () => {
  it("is told what to install", async () => {
    await expect(clockLibrary("no-such-cc")).rejects.toThrow(
      /^no-such-cc cannot make .* apt-get install gcc libc6-dev/,
    );
  });
});
