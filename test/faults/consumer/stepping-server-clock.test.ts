import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sources } from "../../../src/engines/redis/scripts/sources.generated.js";
import { defineScript } from "../../../src/scripting/script.js";
import { clockLibrary } from "../../support/clock-library.js";
import { runs } from "../../support/fault-proxy.js";
import { scriptCalls } from "../../support/script-calls.js";
import { Load } from "./load.js";
import { SteppedStage } from "./stepped-stage.js";

/** The clock of Redis is set while producers and consumers work: due times and leases step with it, and nothing else goes wrong. */

// Elsewhere there are other functions to take the place of.
const libraries = process.platform === "linux" ? (["node-redis", "ioredis"] as const) : [];
const hour = 3_600_000;
/** Consumers claim every 5 s at the latest, and the reply tells them the time; 3 s are for a machine that does much else, ms. */
const polledWithin = 8_000;
/** How late such a machine may be, ms, besides the stalls that are seen. */
const onTime = 1_000;

let library: Awaited<ReturnType<typeof clockLibrary>>;
beforeAll(async () => {
  if (libraries.length > 0) library = await clockLibrary();
});
afterAll(() => library?.[Symbol.asyncDispose]());

/** Schedules a message and waits until it is done; gives how late it started, by the clock of Redis, ms. */
async function lateness({ history, producer, clock }: SteppedStage, id: string): Promise<number> {
  expect(await producer.schedule(id, "succeed", 1_500)).toBe("scheduled");
  await history.until(() => history.isAcknowledged(id), `${id} is acknowledged`, polledWithin);
  const { at, dueAt } = history.start(id)!;
  return at + clock.ahead - dueAt;
}

// Idle most of the time, so they wait side by side.
describe.concurrent.each(libraries)(
  "When the clock of Redis steps under consumers on %s",
  { timeout: 60_000 },
  (client) => {
    it("forward by an hour and back while they are idle, they find out by themselves, in 5 s and without haste", async () => {
      await using stage = await SteppedStage.start(library.path, 0, client);
      const { clock, history, producer } = stage;
      await producer.schedule("due by the step", "succeed", hour / 2);
      await producer.schedule("due later", "succeed", 2 * hour);
      const before = await scriptCalls(stage.raw);
      clock.stepTo(hour);
      await history.until(() => history.isAcknowledged("due by the step"), "it is acknowledged", polledWithin);
      expect(await lateness(stage, "near")).toBeLessThan(onTime + stage.stall.longest());
      clock.stepTo(0);
      expect(await lateness(stage, "near after it")).toBeLessThan(onTime + stage.stall.longest());
      // Three consumers, of which the first to hear of a step claim at once, three messages, and the polls.
      expect((await scriptCalls(stage.raw)) - before).toBeLessThan(50);
      expect(history.of("failed")).toEqual([]);
      expect([...history.starts.keys()]).not.toContain("due later");
      expect(stage.early()).toEqual([]);
      expect(await stage.otherProblems()).toEqual([]);
    });

    it.each([
      ["back", hour, 0],
      ["forward", 0, hour],
    ])(
      "%s while replies are lost, calls and claims are answered in 5 s and what they did is known",
      async (_, from, to) => {
        await using stage = await SteppedStage.start(library.path, from, client);
        const { clock, on, history, producer } = stage;
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
        stage.letGo();
        await history.until(() => history.isAcknowledged("m"), "it is acknowledged");
        expect(history.starts.get("m")).toHaveLength(1);
        // A claim that is repeated tells what it took before the step.
        expect(stage.early(polledWithin)).toEqual([]);
        expect(await stage.otherProblems()).toEqual([]);
      },
    );
  },
);

describe.each(libraries)(
  "When the clock of Redis steps under a load of consumers on %s",
  { timeout: 60_000 },
  (client) => {
    it("forward by an hour, what is due by then comes, leases that ended by then are fenced, and nothing is lost", async () => {
      await using stage = await SteppedStage.start(library.path, 0, client);
      const { clock, on, consumers, history, producer } = stage;
      await producer.schedule("due by the step", "succeed", hour / 2);
      const holder = await stage.held();
      const load = await Load.start(on, { messages: 2_000, lasts: 2_000 });
      await history.until(() => history.acknowledged.size > 200, "the load is under way");
      clock.stepTo(hour);
      await history.until(() => history.isAcknowledged("due by the step"), "it is acknowledged", polledWithin);
      const { attempt } = await history.until(
        () => history.start("held", undefined, 2),
        "it is held again",
        polledWithin,
      );
      expect(attempt).toBe(2);
      await history.until(
        () => history.of("lost", { id: "held", consumer: holder })[0],
        "the first one is told",
        polledWithin,
      );
      stage.letGo();
      await history.until(() => history.isAcknowledged("held"), "it is acknowledged");
      expect(history.of("refused", { id: "held" })).toMatchObject([{ consumer: holder, code: "lease-lost" }]);
      expect(history.of("settled", { id: "held" })).toHaveLength(1);
      await on.everyoneWorks(consumers);
      for (const told of await load.drained()) expect(["scheduled", "cancelled", "leased", "absent"]).toContain(told);
      expect(stage.early()).toEqual([]);
      expect(await stage.otherProblems()).toEqual([]);
    });

    it("back by an hour, nothing comes early, leases last, all work on, and what waits comes when it is due", async () => {
      await using stage = await SteppedStage.start(library.path, hour, client);
      const { clock, on, consumers, history, producer } = stage;
      await stage.held();
      const waiting = Array.from({ length: 100 }, (_, n) => `waiting-${n}`);
      await producer.scheduleAll(waiting.map((id) => ({ id, plan: "succeed", delay: hour / 2 })));
      const load = await Load.start(on, { messages: 2_000, lasts: 2_000 });
      await history.until(() => history.acknowledged.size > 200, "the load is under way");
      clock.stepTo(0);
      await on.everyoneWorks(consumers);
      expect(history.isAcknowledged("held")).toBe(true);
      expect(history.starts.get("held")).toHaveLength(1);
      for (const told of await load.over()) expect(["scheduled", "cancelled", "leased", "absent"]).toContain(told);
      // What was scheduled before the step and not yet due, of the load, too, if it was not too late for that.
      expect((await on.queue.counts()).scheduled).toBeGreaterThanOrEqual(waiting.length);
      expect(history.isAcknowledged(...waiting.slice(0, 1))).toBe(false);
      clock.stepTo(hour + hour / 2);
      await load.drained();
      await history.until(() => history.isAcknowledged(...waiting), "what waited is acknowledged", polledWithin);
      expect(stage.early()).toEqual([]);
      expect(await stage.otherProblems()).toEqual([]);
    });
  },
);
