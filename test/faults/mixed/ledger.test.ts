import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { chaosMessage, digestOf } from "../../chaos/chaos-message.js";
import { Ledger, type Remains, type Speaker } from "./ledger.js";
import type { Ending } from "./saying.js";

const seed = 1;
const messages = 5_000;
const nothing: Remains = { dead: [], scheduled: [] };
const someone: Speaker = { name: "a", absences: [] };
const find = (act: string) =>
  Array.from({ length: messages }, (_, n) => n).find((n) => chaosMessage(seed, n).act === act)!;
const number = find("succeed");

let ledger: Ledger;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: 1_000_000 });
  ledger = new Ledger(seed, messages);
});
afterEach(() => {
  vi.useRealTimers();
});

/** Schedules a message, and lets its time come. */
function scheduled(one = number): void {
  const { delay } = chaosMessage(seed, one);
  ledger.asked(one);
  ledger.told(one, { outcome: "scheduled", dueAt: Date.now() + delay });
  vi.setSystemTime(Date.now() + delay);
}

function delivered(how?: Ending, { one = number, attempt = 1, process = someone } = {}): void {
  const { id, payload } = chaosMessage(seed, one);
  const at = Date.now();
  ledger.heard(process, { kind: "started", id, attempt, at, dueAt: at, digest: digestOf(payload) });
  if (how === undefined) return;
  ledger.heard(process, { kind: "ending", id, attempt, at, how });
  ledger.heard(process, { kind: "ended", id, attempt, at, how });
}

const broken = () => [...ledger.problems.keys()];

describe("The ledger of a run", () => {
  it("finds nothing wrong with a message that was delivered and acknowledged", () => {
    scheduled();
    delivered("acknowledged");
    ledger.finish(nothing);
    expect(broken()).toEqual([]);
    expect(ledger).toMatchObject({ delivered: 1, acknowledged: 1, lostByRedis: 0 });
  });

  it("tells of a message that is lost, and of one of which schedule has told nothing", () => {
    scheduled();
    ledger.asked(number + 1);
    ledger.finish(nothing);
    expect(ledger.problems.get("I1")).toMatchObject({ count: 2 });
  });

  it("takes for done what a killed process was about to acknowledge, and for lost what it only worked on", () => {
    const killed = { ...someone, name: "killed" };
    ledger.wasKilled(killed.name);
    scheduled();
    const { id } = chaosMessage(seed, number);
    delivered(undefined, { process: killed });
    ledger.heard(killed, { kind: "ending", id, attempt: 1, at: Date.now(), how: "acknowledged" });
    scheduled(number + 1);
    delivered(undefined, { one: number + 1, process: killed });
    ledger.finish(nothing);
    expect(ledger.problems.get("I1")).toMatchObject({ count: 1 });
    expect(ledger.problems.get("I1")?.sentences[0]).toMatch(`m${number + 1} is lost`);
  });

  it("knows of what it has judged that it is over, and tells when it comes back", () => {
    scheduled();
    delivered("acknowledged");
    ledger.sweep(Date.now() + 60_000);
    expect(broken()).toEqual([]);
    delivered("acknowledged", { attempt: 2 });
    ledger.finish(nothing);
    expect(broken()).toEqual(["I7"]);
  });

  it("does not blame the queue for what Redis may have lost in a failover, and counts it; early is early all the same", () => {
    ledger.losses.push({ from: 0, to: Number.MAX_SAFE_INTEGER });
    scheduled();
    scheduled(number + 1);
    vi.setSystemTime(Date.now() - 5_000);
    delivered("acknowledged", { one: number + 1 });
    ledger.finish(nothing);
    expect(broken()).toEqual(["I3"]);
    expect(ledger.lostByRedis).toBe(1);
  });

  it("tells of a message that was delivered again for no known cause", () => {
    scheduled();
    delivered();
    delivered("acknowledged", { attempt: 2 });
    ledger.finish(nothing);
    expect(broken()).toEqual(["I11"]);
  });

  it("knows which delivery could not be settled, when the same process has had the message again since", () => {
    scheduled();
    const { id } = chaosMessage(seed, number);
    delivered();
    delivered("acknowledged", { attempt: 2 });
    ledger.heard(someone, { kind: "failed", id, attempt: 1, at: Date.now(), code: "outcome-unknown" });
    ledger.finish(nothing);
    expect(broken()).toEqual([]);
    expect([...ledger.causes.keys()]).toEqual(["it could not be settled (outcome-unknown)"]);
  });

  it.each([
    ["tells of a message that is late while nothing is wrong", 0, 900, ["I4"]],
    ["does not tell of a message that came due before all was well", 1, 0, []],
    ["does not tell of a message that is late because the machine let nobody run", 0, 1_100, []],
  ])("%s", (_, before, stalled, found) => {
    scheduled();
    ledger.lateness.calm(Date.now() + before);
    const { id, payload } = chaosMessage(seed, number);
    const dueAt = Date.now();
    vi.setSystemTime(dueAt + 4_000);
    const more = { id, attempt: 1, at: Date.now() };
    ledger.heard(someone, { kind: "started", ...more, dueAt, digest: digestOf(payload) });
    ledger.heard(someone, { kind: "ending", ...more, how: "acknowledged" });
    ledger.heard(someone, { kind: "ended", ...more, how: "acknowledged" });
    ledger.finish(nothing, { stalled });
    expect(broken()).toEqual(found);
  });

  it("compares what was buried with the dead letters, both ways", () => {
    const bury = find("bury");
    scheduled(bury);
    delivered("buried", { one: bury });
    ledger.finish({ ...nothing, dead: [{ id: `m${number}`, attempt: 1, reason: "as planned" }] });
    expect(broken()).toEqual(expect.arrayContaining(["I1", "I8"]));
  });

  it("tells of what was cancelled, and is still scheduled, and of what nobody asked for", () => {
    const far = find("cancel-far");
    ledger.asked(far);
    ledger.told(far, { outcome: "scheduled", dueAt: Date.now() + 3_600_000 });
    ledger.cancelled(far, Date.now(), "cancelled");
    ledger.heard(someone, { kind: "started", id: "x", attempt: 1, at: Date.now(), dueAt: 0, digest: "" });
    ledger.finish({ ...nothing, scheduled: [`m${far}`] });
    expect(broken()).toEqual(["I2", "I9"]);
  });
});
