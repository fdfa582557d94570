import { describe, expect, it } from "vitest";
import { type CheckOptions, problemsOf } from "./checker.js";
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
  it.each<[string, string[]]>([
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
  it.each<[string, string[], RegExp]>([
    ["a lost message", run([]), /^lost: m/],
    ["a schedule that never ended", run(good, empty, {}, (h) => delete h.asked.get("m")!.told), /nobody was told/],
    ["a message that nobody asked for", run([...good, started(1, { id: "x" })]), /never asked for: x/],
    [
      "another payload",
      run([started(1, { task: { ...task, text: "other" } }), settled("acknowledged")]),
      /another payload/,
    ],
    ["an early start", run([started(1, { at: t - 1 }), settled("acknowledged")]), /early by 1 ms/],
    [
      "a start before what the delivery says",
      run([started(1, { dueAt: t + 9 }), settled("acknowledged")]),
      /early by 9 ms/,
    ],
    [
      "a start before what was told",
      run(good, empty, {}, (h) => (h.asked.get("m")!.told = { outcome: "scheduled", dueAt: t + 9 })),
      /early by 9 ms/,
    ],
    ["a message that comes back", run([...good, started(2)]), /again after it was acknowledged/],
    [
      "an overlap of two deliveries",
      run([started(), started(2, { consumer: "b" }), settled("acknowledged")]),
      /again after it was acknowledged/,
    ],
    ["two acknowledgements", run([...good, settled("acknowledged")]), /ended twice/],
    [
      "a delivery after a cancellation",
      run(
        [started(1, { at: t + 5 })],
        waiting,
        {},
        (h) => (h.asked.get("m")!.cancelled = { outcome: "cancelled", at: t }),
      ),
      /after it was cancelled/,
    ],
    [
      "a cancelled message that is there",
      run([], waiting, {}, (h) => (h.asked.get("m")!.cancelled = { outcome: "cancelled", at: t })),
      /cancelled, but still/,
    ],
    ["a delivery without a cause", run([started(), started(), settled("acknowledged")]), /with a cause for 1/],
    [
      "an attempt too many",
      run([started(), settled("retried"), started(3), settled("acknowledged", 3)]),
      /attempt 3 after 2/,
    ],
    [
      "an attempt that a release used",
      run([started(), settled("released"), started(2), settled("acknowledged", 2)]),
      /attempt 2 after 2/,
    ],
    [
      "an attempt that was not counted",
      run([started(), started(1, { consumer: "b" }), settled("acknowledged", 1, { consumer: "b" })], empty, {
        leasesMayEnd: true,
      }),
      /attempt 1 after 2/,
    ],
    ["an id in two states", run([], { ...waiting, dead: ["m"], counts: { ...waiting.counts, dead: 1 } }), /two states/],
    ["an index entry without a body", run(good, { ...waiting, stored: [] }), /without a body/],
    ["a body without an index entry", run([], { ...empty, stored: ["m"] }), /without an index entry/],
    ["a token without a lease", run(good, { ...empty, fenced: ["m"] }), /leases and tokens differ/],
    ["what the audit finds", run(good, { ...empty, found: ["an orphan"] }), /audit\(\) says an orphan/],
    ["wrong counts", run([], { ...waiting, counts }), /counts\(\) says 0,0,0, there are 1,0,0/],
    ["a message from nowhere", run(good, { ...waiting, waiting: ["x"], stored: ["x"] }), /stored, but never asked for/],
    ["an acknowledged message that is there", run(good, waiting), /acknowledged, but still/],
    ["a claim of long ago", run([...good, claimedAt("running", t, t + 8_000)]), /long ago/],
    [
      "running without a new claim",
      run([...good, claimedAt("running", t, t), claimedAt("recovering", t, t + 1), claimedAt("running", t, t + 2)]),
      /before a claim was answered/,
    ],
    [
      "running in an outage",
      run([...good, claimedAt("running", t, t)], empty, {}, (h) =>
        h.outages.push({ from: t, to: t + 400, noticedWithin: 100 }),
      ),
      /while nobody was answered/,
    ],
    [
      "a claim in an outage",
      run([...good, claimedAt("recovering", t + 200, t + 300)], empty, {}, (h) =>
        h.outages.push({ from: t, to: t + 400, noticedWithin: 100 }),
      ),
      /cannot have been answered/,
    ],
  ])("%s", (_, problems, sentence) => expect(problems).toContainEqual(expect.stringMatching(sentence)));
});
