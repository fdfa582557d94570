import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { closedAtEnd } from "../../support/closed-at-end.js";
import { withRedis } from "../../support/with-redis.js";
import { AstrayJournal } from "./astray-journal.js";
import { AstrayProcess, astrayProgram } from "./astray-process.js";

/** Producers and consumers are processes whose clocks are wrong, and are set while they run. */

const redis = withRedis();
let program: Awaited<ReturnType<typeof astrayProgram>>;
beforeAll(async () => {
  program = await astrayProgram();
});
afterAll(() => program[Symbol.asyncDispose]());

const hour = 3_600_000;
/** How late a machine may be that does much else, ms. */
const onTime = 3_000;
/** So long that one that is not extended on time for 2 s is still held. */
const lease = 3_000;
/** From before the clocks step until after the end of a lease that was not extended since, ms. */
const holds = 5_000;

describe.each(["node-redis", "ioredis"] as const)("Two processes on %s", { timeout: 60_000 }, (library) => {
  it("an hour behind and an hour ahead, whose clocks then step by two hours, keep to the clock of Redis", async () => {
    const journal = new AstrayJournal();
    const start = (name: string, other: string, ahead: number) => {
      const [consumes, schedules] = [`${library}-${name}`, `${library}-${other}`];
      const options = { url: redis.url, library, name, consumes, schedules, ahead, lease, holds };
      return closedAtEnd(new AstrayProcess(program.path, options, journal));
    };
    const [slow, fast] = [start("slow", "fast", -hour), start("fast", "slow", hour)];
    /** Each schedules for the other one. */
    const schedule = (id: string, delay: number, payload: "hold" | "return" = "return") => {
      for (const one of [slow, fast]) one.tell({ kind: "schedule", id, delay, payload });
    };
    schedule("before", 600);
    await journal.acknowledged(2);
    schedule("held", 0, "hold");
    schedule("over the step", 800);
    while (journal.of("scheduled").length < 6 || journal.of("started").length < 4) await journal.more();
    slow.tell({ kind: "step", by: 2 * hour });
    fast.tell({ kind: "step", by: -2 * hour });
    schedule("after", 600);
    await journal.acknowledged(8);

    expect(journal.of("lost")).toEqual([]);
    for (const { earliest, dueAt, latest } of journal.of("scheduled")) {
      // Redis rounds up to whole ms.
      expect(dueAt).toBeGreaterThanOrEqual(earliest);
      expect(dueAt).toBeLessThanOrEqual(latest + 1);
    }
    const starts = journal.of("started");
    expect(starts).toHaveLength(8);
    for (const { attempt, at, dueAt, lateness } of starts) {
      expect(attempt).toBe(1);
      expect(at).toBeGreaterThanOrEqual(dueAt);
      expect(at - dueAt).toBeLessThan(onTime);
      expect(lateness).toBeGreaterThanOrEqual(0);
      expect(lateness).toBeLessThan(onTime);
    }
    // Their clocks were wrong, each in both ways.
    const wrong = starts.map(({ name, at, wall }) => `${name} ${Math.round((wall - at) / hour)}`);
    expect(new Set(wrong)).toEqual(new Set(["slow -1", "slow 1", "fast 1", "fast -1"]));
  });
});
