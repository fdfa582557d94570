import { describe, expect, it } from "vitest";
import { chaosMessage, digestOf, lease } from "../../chaos/chaos-message.js";
import { type Circumstances, judge } from "./judge.js";
import type { Ending } from "./saying.js";
import type { DeliverySeen, Story } from "./story.js";

/** The judge finds what is wrong, and nothing where nothing is. */

const seed = 1;
const calm: Circumstances = { seed, killed: new Set(), absences: new Map(), losses: [] };

/** The number of a message with this act. */
const numberOf = (act: string) =>
  Array.from({ length: 5_000 }, (_, n) => n).find((n) => chaosMessage(seed, n).act === act)!;
const number = numberOf("succeed");
const { payload, delay } = chaosMessage(seed, number);
const askedAt = 1_000_000;
const due = askedAt + delay;

/** The nth delivery, which starts so many ms after the due time and settles 10 ms later. */
function delivery(attempt: number, after: number, how?: Ending, process = "a"): DeliverySeen {
  const at = due + after;
  return {
    process,
    at,
    attempt,
    dueAt: due,
    digest: digestOf(payload),
    ...(how === undefined ? {} : { ending: { at: at + 9, how }, ended: { at: at + 10, how } }),
  };
}

function story(deliveries: DeliverySeen[], more: Partial<Story> = {}): Story {
  return {
    number,
    askedAt,
    told: { at: askedAt + 1, outcome: "scheduled", dueAt: due },
    cancels: [],
    deliveries,
    ...more,
  };
}

const invariants = (one: Story, circumstances: Partial<Circumstances> = {}) =>
  judge(one, { ...calm, ...circumstances }).problems.map(({ invariant }) => invariant);

describe("Nothing is wrong with a message", () => {
  it.each<[string, Story, Partial<Circumstances>]>([
    ["that was delivered and acknowledged", story([delivery(1, 0, "acknowledged")]), {}],
    ["that failed once", story([delivery(1, 0, "retried"), delivery(2, 50, "acknowledged")]), {}],
    ["that was released", story([delivery(1, 0, "released"), delivery(1, 50, "acknowledged", "b")]), {}],
    [
      "whose start by another process is told before its release is known to be done",
      story([delivery(1, 9, "acknowledged", "b"), delivery(1, 0, "released")]),
      {},
    ],
    ["whose process was killed", story([delivery(1, 0), delivery(2, lease, "acknowledged")]), { killed: new Set("a") }],
    [
      "that was cancelled before it was due",
      story([], { cancels: [{ askedAt: due - 5, at: due - 1, outcome: "cancelled" }] }),
      {},
    ],
    ["that was never stored", story([], { told: { at: due, failed: "not-sent" } }), {}],
    [
      "whose schedule was repeated when it was gone, and tells when it went",
      story([delivery(1, 0, "acknowledged")], { told: { at: due + 40, outcome: "scheduled", dueAt: due + 10 } }),
      {},
    ],
    [
      "of which schedule does not know",
      story([delivery(1, 0, "acknowledged")], { told: { at: due, failed: "outcome-unknown" } }),
      {},
    ],
  ])("%s", (_, one, circumstances) => {
    expect(invariants(one, circumstances)).toEqual([]);
  });
});

describe("It is told of a message", () => {
  it.each<[string, Story, string]>([
    ["that started early", story([delivery(1, -1, "acknowledged")]), "I3"],
    [
      "that started before schedule said",
      story([{ ...delivery(1, 0, "acknowledged") }], { told: { at: askedAt, outcome: "scheduled", dueAt: due + 5 } }),
      "I3",
    ],
    ["with other bytes", story([{ ...delivery(1, 0, "acknowledged"), digest: "x" }]), "I2"],
    [
      "that was delivered, though schedule said that nothing was stored",
      story([delivery(1, 0, "acknowledged")], { told: { at: due, failed: "storage-full" } }),
      "I2",
    ],
    ["that came again after it was acknowledged", story([delivery(1, 0, "acknowledged"), delivery(2, lease)]), "I7"],
    [
      "that was acknowledged twice",
      story([delivery(1, 0, "acknowledged"), delivery(2, lease, "acknowledged", "b")]),
      "I12",
    ],
    [
      "on which two worked, of whom the first still had its lease",
      story([delivery(1, 0, "retried"), delivery(2, 5, "acknowledged", "b")]),
      "I5",
    ],
    ["that two had at the same attempt", story([delivery(1, 0), delivery(1, 50, "acknowledged", "b")]), "I8"],
    ["that was delivered too often", story([delivery(11, 0, "acknowledged")]), "I8"],
    [
      "that was delivered after it was cancelled",
      story([delivery(1, 0, "acknowledged")], { cancels: [{ askedAt: due - 9, at: due - 5, outcome: "cancelled" }] }),
      "I7",
    ],
    [
      "that cancel did not find, and that was delivered later",
      story([delivery(1, 0, "acknowledged")], { cancels: [{ askedAt: due - 9, at: due - 5, outcome: "absent" }] }),
      "I7",
    ],
  ])("%s", (_, one, invariant) => {
    expect(invariants(one)).toContain(invariant);
  });
});

describe("A further delivery has a cause:", () => {
  const again = delivery(2, lease, "acknowledged", "b");
  it.each<[string, DeliverySeen, Partial<Circumstances>]>([
    ["retried as planned", delivery(1, 0, "retried"), {}],
    ["its process was killed", delivery(1, 0), { killed: new Set("a") }],
    [
      "its process was stopped or blocked",
      delivery(1, 0),
      { absences: new Map([["a", [{ from: due + 5, to: due + lease }]]]) },
    ],
    ["its lease ended (lease-lost)", { ...delivery(1, 0), lost: { at: due + lease, code: "lease-lost" } }, {}],
    ["it could not be settled (not-sent)", { ...delivery(1, 0), failed: { at: due + lease, code: "not-sent" } }, {}],
    ["Redis forgot that it was done", delivery(1, 0, "acknowledged"), { losses: [{ from: due, to: due + 100 }] }],
    ["Redis forgot the lease", delivery(1, 0), { losses: [{ from: due, to: due + 100 }] }],
    ["no known cause", delivery(1, 0), {}],
    ["no known cause", delivery(1, 0), { absences: new Map([["a", [{ from: due - 9, to: due - 1 }]]]) }],
    ["no known cause", delivery(1, 0, "acknowledged"), { killed: new Set("a") }],
  ])("%s", (cause, first, circumstances) => {
    expect(judge(story([first, again]), { ...calm, ...circumstances }).causes).toEqual([cause]);
  });
});
