import { describe, expect, it } from "vitest";
import { type CheckOptions, type Problem, problemsOf } from "./checker.js";
import { type Entry, History } from "./history.js";
import type { Remains } from "./remains.js";

const task = { plan: "succeed", text: "t" } as const;
const counts = { scheduled: 0, due: 0, leased: 0, dead: 0, paused: false };
const empty: Remains = { waiting: [], leased: [], dead: [], stored: [], fenced: [], counts, found: [] };
const waiting: Remains = { ...empty, waiting: ["m"], stored: ["m"], counts: { ...counts, scheduled: 1 } };
const t = 1_000_000;

type Bare<E> = E extends Entry ? Omit<E, "consumer" | "at"> & { consumer?: string; at?: number } : never;

/** A message `m` that was asked for at `t`, due at once, and what happened then. */
function run(entries: Bare<Entry>[], remains: Remains = empty, options?: CheckOptions, change?: (h: History) => void) {
  const history = new History();
  history.asked.set("m", { task, earliest: t, told: { outcome: "scheduled", dueAt: t } });
  change?.(history);
  entries.forEach((entry, index) => history.add({ consumer: "a", at: t + index, ...entry }));
  return problemsOf(history, remains, options);
}
const started = (attempt = 1, more: object = {}) =>
  ({ kind: "started", id: "m", attempt, dueAt: t, task, ...more }) as const;
const settled = (how: "acknowledged" | "retried" | "released" | "buried", attempt = 1, more: object = {}) =>
  ({ kind: "settled", id: "m", attempt, how, ...more }) as const;
const claimedAt = (state: "running" | "recovering", lastClaimAt: number, at: number) =>
  ({ kind: "health", state, lastClaimAt, at }) as const;
const good = [started(), settled("acknowledged")];

describe("The checker finds nothing wrong with", () => {
  it.each<[string, Problem[]]>([
    ["a delivery", run(good)],
    ["a message that waits", run([], waiting)],
    [
      "a retry and a release",
      run([started(), settled("retried"), started(2), settled("released", 2), started(2), settled("acknowledged", 2)]),
    ],
    ["a cancelled message", run([], empty, {}, (h) => (h.asked.get("m")!.cancelled = { outcome: "cancelled", at: t }))],
    ["a schedule that failed", run([], empty, {}, (h) => (h.asked.get("m")!.told = { failed: "storage-full" }))],
    [
      "an acknowledgement of which nobody can know",
      run([started(), { kind: "failed", code: "outcome-unknown", id: "m" }]),
    ],
    [
      "a lease that a killed process held",
      run([started(), started(2, { consumer: "b" }), settled("acknowledged", 2, { consumer: "b" })], empty, {
        leasesMayEnd: true,
      }),
    ],
    [
      "an outage that was over before it had to be noticed",
      run([...good, claimedAt("running", t, t + 10), claimedAt("running", t + 400, t + 401)], empty, {}, (h) =>
        h.outages.push({ from: t + 100, to: t + 400, noticedWithin: 7_600 }),
      ),
    ],
    [
      "a message that was done between two attempts to schedule it",
      run(
        [...good, started(1, { dueAt: t + 9, at: t + 9 }), settled("acknowledged", 1, { at: t + 10 })],
        empty,
        { schedulesRepeat: true },
        (h) => (h.asked.get("m")!.told = { outcome: "scheduled", dueAt: t + 9 }),
      ),
    ],
    [
      "an outage that was noticed",
      run(
        [
          ...good,
          claimedAt("running", t, t + 10),
          claimedAt("recovering", t, t + 150),
          claimedAt("running", t + 400, t + 401),
        ],
        empty,
        {},
        (h) => h.outages.push({ from: t + 100, to: t + 400, noticedWithin: 100 }),
      ),
    ],
  ])("%s", (_, problems) => expect(problems).toEqual([]));
});

describe("The checker finds", () => {
  it.each<[what: string, problems: Problem[], about: string, sentence: RegExp]>([
    ["a lost message", run([]), "I1 of m", /lost/],
    [
      "a schedule that never ended",
      run(good, empty, {}, (h) => delete h.asked.get("m")!.told),
      "I4 of m",
      /nobody was told/,
    ],
    [
      "a message that nobody asked for",
      run([...good, started(1, { id: "x" })]),
      "I2 of x",
      /delivered, but never asked for/,
    ],
    [
      "another payload",
      run([started(1, { task: { ...task, text: "other" } }), settled("acknowledged")]),
      "I2 of m",
      /another payload/,
    ],
    ["an early start", run([started(1, { at: t - 1 }), settled("acknowledged")]), "I3 of m", /early by 1 ms/],
    [
      "a start before what the delivery says",
      run([started(1, { dueAt: t + 9 }), settled("acknowledged")]),
      "I3 of m",
      /early by 9 ms/,
    ],
    [
      "a start before what was told",
      run(good, empty, {}, (h) => (h.asked.get("m")!.told = { outcome: "scheduled", dueAt: t + 9 })),
      "I3 of m",
      /early by 9 ms/,
    ],
    ["a message that comes back", run([...good, started(2)]), "I7 of m", /again after it was acknowledged/],
    [
      "an overlap of two deliveries",
      run([started(), started(2, { consumer: "b" }), settled("acknowledged")]),
      "I7 of m",
      /again after it was acknowledged/,
    ],
    ["two acknowledgements", run([...good, settled("acknowledged")]), "I12 of m", /ended twice/],
    [
      "a delivery after a cancellation",
      run(
        [started(1, { at: t + 5 })],
        waiting,
        {},
        (h) => (h.asked.get("m")!.cancelled = { outcome: "cancelled", at: t }),
      ),
      "I7 of m",
      /after it was cancelled/,
    ],
    [
      "a cancelled message that is there",
      run([], waiting, {}, (h) => (h.asked.get("m")!.cancelled = { outcome: "cancelled", at: t })),
      "I7 of m",
      /cancelled, but is still/,
    ],
    [
      "a delivery without a cause",
      run([started(), started(), settled("acknowledged")]),
      "I8 of m",
      /with a cause for 1/,
    ],
    [
      "an attempt too many",
      run([started(), settled("retried"), started(3), settled("acknowledged", 3)]),
      "I8 of m",
      /attempt 3 after 2/,
    ],
    [
      "an attempt that a release used",
      run([started(), settled("released"), started(2), settled("acknowledged", 2)]),
      "I8 of m",
      /attempt 2 after 2/,
    ],
    [
      "an attempt that was not counted",
      run([started(), started(1, { consumer: "b" }), settled("acknowledged", 1, { consumer: "b" })], empty, {
        leasesMayEnd: true,
      }),
      "I8 of m",
      /attempt 1 after 2/,
    ],
    [
      "an id in two states",
      run([], { ...waiting, dead: ["m"], counts: { ...waiting.counts, dead: 1 } }),
      "I9",
      /two states/,
    ],
    ["an index entry without a body", run(good, { ...waiting, stored: [] }), "I9 of m", /without a body/],
    ["a body without an index entry", run([], { ...empty, stored: ["m"] }), "I9 of m", /without an index entry/],
    ["a token without a lease", run(good, { ...empty, fenced: ["m"] }), "I9", /leases and tokens differ/],
    [
      "what the audit finds",
      run(good, { ...empty, found: [{ id: "m", kind: "orphan", detail: "an orphan" }] }),
      "I9 of m",
      /audit\(\) says an orphan/,
    ],
    ["wrong counts", run([], { ...waiting, counts }), "I9", /counts\(\) says 0,0,0, there are 1,0,0/],
    [
      "a message from nowhere",
      run(good, { ...waiting, waiting: ["x"], stored: ["x"] }),
      "I2 of x",
      /stored, but was never asked for/,
    ],
    ["an acknowledged message that is there", run(good, waiting), "I7 of m", /acknowledged, but is still/],
    ["a claim of long ago", run([...good, claimedAt("running", t, t + 8_000)]), "I10", /long ago/],
    [
      "running without a new claim",
      run([...good, claimedAt("running", t, t), claimedAt("recovering", t, t + 1), claimedAt("running", t, t + 2)]),
      "I10",
      /before a claim was answered/,
    ],
    [
      "running in an outage",
      run([...good, claimedAt("running", t, t)], empty, {}, (h) =>
        h.outages.push({ from: t, to: t + 400, noticedWithin: 100 }),
      ),
      "I10",
      /while nobody was answered/,
    ],
    [
      "a claim in an outage",
      run([...good, claimedAt("recovering", t + 200, t + 300)], empty, {}, (h) =>
        h.outages.push({ from: t, to: t + 400, noticedWithin: 100 }),
      ),
      "I10",
      /cannot have been answered/,
    ],
  ])("%s", (_, problems, about, sentence) => {
    const [invariant, id] = about.split(" of ");
    expect(problems).toContainEqual({
      invariant,
      ...(id === undefined ? {} : { id }),
      sentence: expect.stringMatching(sentence),
    });
  });
});

describe("When Redis may have forgotten what it confirmed of a message, the checker", () => {
  const id = "orders: 7";
  const forgotten = { excused: (one: string) => one === id };
  const scheduled = (history: History) =>
    history.asked.set(id, { task, earliest: t, told: { outcome: "scheduled", dueAt: t } });
  const there: Remains = { ...empty, waiting: [id], stored: [id], counts: { ...counts, scheduled: 1 } };

  it("forgives that it is lost, comes back, or is broken, and nothing of others", () => {
    expect(run([], empty, forgotten, scheduled).map((problem) => problem.id)).toEqual(["m"]);
    const comesBack = [...good, started(1, { id }), settled("acknowledged", 1, { id }), started(2, { id })];
    expect(run(comesBack, empty, forgotten, scheduled)).toEqual([]);
    const found = [{ id, kind: "orphan", detail: "an orphan" }];
    expect(run(good, { ...there, waiting: [], counts, found }, forgotten, scheduled)).toEqual([]);
  });

  it.each<[what: string, problems: Problem[], invariant: string]>([
    ["that nobody asked for it", run(good, there, forgotten), "I2"],
    ["that it is early", run([...good, started(1, { id, at: t - 1 })], there, forgotten, scheduled), "I3"],
    [
      "that a call has not ended",
      run(good, there, forgotten, (history) => history.asked.set(id, { task, earliest: t })),
      "I4",
    ],
  ])("does not forgive %s", (_, problems, invariant) => {
    expect(problems.map((problem) => `${problem.invariant} of ${problem.id}`)).toEqual([`${invariant} of ${id}`]);
  });

  it("does not forgive what is wrong with the queue as a whole", () => {
    const problems = run(good, { ...empty, fenced: ["x"] }, { excused: () => true });
    expect(problems).toEqual([{ invariant: "I9", sentence: "leases and tokens differ" }]);
  });
});
