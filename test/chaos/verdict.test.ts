import { describe, expect, it } from "vitest";
import { type Act, chaosMessage, digestOf } from "./chaos-message.js";
import type { Entry, Note } from "./journal.js";
import { tellStories } from "./stories.js";
import { judge, type Run } from "./verdict.js";

const seed = 1;
const messages = 300;
const at = 1_800_000_000_000;
const counts = { scheduled: 0, due: 0, leased: 0, dead: 0, paused: false };

/** The number of the first message with which this is done. */
const first = (act: Act) =>
  Array.from({ length: messages }, (_, n) => n).find((n) => chaosMessage(seed, n).act === act) ?? -1;
const of = (number: number) => chaosMessage(seed, number);
const it0 = of(first("succeed"));
const digest = digestOf(it0.payload);
const { id } = it0;

const asked: Note = { kind: "asked", id };
const told: Note = { kind: "told", id, outcome: "scheduled", dueAt: at + it0.delay };
const started = (attempt = 1): Note => ({ kind: "started", id, attempt, dueAt: at + it0.delay, digest });
const ending = (how: "acknowledged" | "released" | "retried" = "acknowledged", attempt = 1): Note => ({
  kind: "ending",
  id,
  attempt,
  how,
});
const ended = (how: "acknowledged" | "released" | "retried" = "acknowledged", attempt = 1): Note => ({
  kind: "ended",
  id,
  attempt,
  how,
});

type Timed = readonly [after: number, note: Note];

/** What breaks a run of one message that is told by these notes, by process. */
function brokenBy(
  journals: Record<string, readonly Timed[]>,
  rest: Partial<Run> = {},
): Record<string, readonly string[]> {
  const stories = tellStories(
    Object.entries(journals).map(([process, notes]) => ({
      process,
      entries: notes.map(([after, note]): Entry => ({ ...note, at: at + after })),
    })),
  );
  const run: Run = {
    seed,
    messages: 0,
    stories,
    killed: new Set(),
    failed: [],
    orphans: 0,
    planted: new Set(),
    mending: [],
    dead: [],
    stored: new Set(),
    drained: counts,
    emptied: counts,
    found: [],
    ...rest,
  };
  const { findings } = judge(run);
  return Object.fromEntries(
    findings.flatMap(({ invariant, broken }) => (broken.length > 0 ? [[invariant, broken] as const] : [])),
  );
}

const due = it0.delay;
const good: readonly Timed[] = [
  [due, started()],
  [due + 5, ending()],
  [due + 6, ended()],
];
const producer: readonly Timed[] = [
  [0, asked],
  [1, told],
];
/** The run has all messages up to this one, of which the others are not looked at. */
const upToIt = { messages: Number(id.slice(1)) + 1 };

describe("A run is judged", () => {
  it("the first message of this seed is one that succeeds, so the runs below have no other", () => {
    expect(id).toBe("m0");
  });

  it("sound when the message was scheduled, delivered when due, and acknowledged", () => {
    expect(brokenBy({ producer, consumer: good }, upToIt)).toEqual({});
  });

  it.each<[string, string, Record<string, readonly Timed[]>, Partial<Run>]>([
    ["I1", "what was scheduled was never delivered", { producer }, {}],
    ["I1", "nobody was told what became of it", { producer: producer.slice(0, 1), consumer: good }, {}],
    [
      "I1",
      "its handler came to its end, and no more is known though its process lives",
      { producer, consumer: good.slice(0, 2) },
      {},
    ],
    [
      "I1",
      "it was at work in a process that was killed, and did not come back",
      { producer, consumer: good.slice(0, 1) },
      { killed: new Set(["consumer"]) },
    ],
    [
      "I2",
      "it has another payload",
      { producer, consumer: [[due, { ...started(), digest: "x" } as Note], ...good.slice(1)] },
      {},
    ],
    ["I2", "nobody asked for it", { producer, consumer: [...good, [due, { ...started(), id: "m7777" }]] }, {}],
    [
      "I3",
      "it starts before the time that was asked for",
      { producer, consumer: [[due - 1, { ...started(), dueAt: 0 } as Note], ...good.slice(1)] },
      {},
    ],
    [
      "I3",
      "it starts before the time that was told",
      {
        producer: [
          [-9_000, asked],
          [1, told],
        ],
        consumer: [[due - 1, { ...started(), dueAt: 0 } as Note], ...good.slice(1)],
      },
      {},
    ],
    [
      "I3",
      "it starts before the time that the delivery tells",
      { producer, consumer: [[due, { ...started(), dueAt: at + due + 1 } as Note], ...good.slice(1)] },
      {},
    ],
    [
      "I7",
      "it is delivered again after it was acknowledged",
      { producer, consumer: good, other: [[due + 7, started(2)]] },
      {},
    ],
    [
      "I7",
      "it is delivered to another one while it is worked on",
      { producer, consumer: good, other: [[due + 1, started(2)]] },
      {},
    ],
    [
      "I7",
      "it is acknowledged twice",
      {
        producer,
        consumer: good,
        other: [
          [due, started()],
          [due + 5, ending()],
          [due + 6, ended()],
        ],
      },
      {},
    ],
    [
      "I7",
      "it is delivered after it was cancelled",
      { producer: [...producer, [due - 1, { kind: "cancelled", id, outcome: "cancelled" }]], consumer: good },
      {},
    ],
    [
      "I8",
      "it has more attempts than it may",
      {
        producer,
        consumer: [
          [due, started(11)],
          [due + 5, ending("acknowledged", 11)],
          [due + 6, ended("acknowledged", 11)],
        ],
      },
      {},
    ],
    [
      "I8",
      "its second delivery counts as the first",
      {
        producer,
        consumer: [
          [due, started()],
          [due + 1, ending("retried")],
          [due + 2, ended("retried")],
        ],
        other: good.map(([after, note]) => [after + 50, note] as const),
      },
      {},
    ],
    [
      "I8",
      "it is a dead letter before its last attempt",
      { producer },
      { dead: [{ id, attempt: 9, reason: "attempts" }] },
    ],
    [
      "I8",
      "it is a dead letter that nobody buried",
      { producer },
      { dead: [{ id, attempt: 1, reason: "as planned" }] },
    ],
    ["I9", "something is left", { producer, consumer: good }, { drained: { ...counts, leased: 1 } }],
    ["I9", "audit() finds something", { producer, consumer: good }, { found: ["something"] }],
    [
      "I11",
      "it is delivered again, and nobody knows why",
      {
        producer,
        consumer: [[due, started()]],
        other: [
          [due + 50, started(2)],
          [due + 55, ending("acknowledged", 2)],
          [due + 56, ended("acknowledged", 2)],
        ],
      },
      {},
    ],
    ["–", "a process ended by itself", { producer, consumer: good }, { failed: ["consumer"] }],
    ["–", "what was mended is not delivered", { producer, consumer: good }, { planted: new Set(["orphan"]) }],
  ])("broken in %s when %s", (invariant, _, journals, rest) => {
    expect(Object.keys(brokenBy(journals, { ...upToIt, ...rest }))).toContain(invariant);
  });

  it("sound when it is delivered again because its process was killed, at work or before it knew that it was acknowledged", () => {
    const again: readonly Timed[] = [
      [due + 3_000, started(2)],
      [due + 3_005, ending("acknowledged", 2)],
      [due + 3_006, ended("acknowledged", 2)],
    ];
    const killed = { ...upToIt, killed: new Set(["consumer"]) };
    expect(brokenBy({ producer, consumer: good.slice(0, 1), other: again }, killed)).toEqual({});
    expect(brokenBy({ producer, consumer: good.slice(0, 2), other: again }, killed)).toEqual({});
    expect(brokenBy({ producer, consumer: good.slice(0, 2) }, killed)).toEqual({});
  });

  it("sound when it was released and starts again in the same process before that is known", () => {
    const notes: readonly Timed[] = [
      [due, started()],
      [due + 1, ending("released")],
      [due + 2, started()],
      [due + 2, ended("released")],
      [due + 3, ending()],
      [due + 4, ended()],
    ];
    expect(brokenBy({ producer, consumer: notes }, upToIt)).toEqual({});
  });

  it("sound when a producer was killed, and what it had scheduled is scheduled again", () => {
    const second: readonly Timed[] = [
      [due + 100, asked],
      [due + 101, { ...told, outcome: "duplicate", dueAt: at + due + 6 }],
    ];
    expect(brokenBy({ producer: producer.slice(0, 1), second, consumer: good }, upToIt)).toEqual({});
  });
});
