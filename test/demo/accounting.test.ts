import { describe, expect, it } from "vitest";
import { Lateness } from "../../demo/lateness.js";
import { Ledger } from "../../demo/ledger.js";
import { demoScenario, makePlan } from "../../demo/scenario.js";

const start = 1_000_000;

/** A ledger of three messages that are scheduled, each due at a round time. */
function ledgerOfThree() {
  const ledger = new Ledger({
    dueAt: Float64Array.of(start, start + 10, start + 20),
    fails: new Uint8Array(3),
    cancellations: [],
  });
  for (let number = 0; number < 3; number += 1) ledger.confirm(number);
  return ledger;
}

function deliver(ledger: Ledger, number: number, dueAt: number, now = dueAt): void {
  ledger.start(number, dueAt, now);
  ledger.finish(number);
}

describe("The ledger", () => {
  it("finds nothing wrong when each message ends once.", () => {
    const ledger = ledgerOfThree();
    deliver(ledger, 0, start);
    deliver(ledger, 1, start + 10, start + 12);
    ledger.cancel(2);
    expect(ledger.ended).toBe(3);
    expect(ledger.close(0, 1)).toMatchObject({
      scheduled: 3,
      delivered: 2,
      cancelled: 1,
      lost: 0,
      duplicated: 0,
      early: 0,
    });
  });

  it("calls a message lost that neither was delivered nor cancelled, even when it still lies there.", () => {
    const ledger = ledgerOfThree();
    deliver(ledger, 0, start);
    expect(ledger.close(0, 1)).toMatchObject({ delivered: 1, lost: 2, duplicated: 0 });
    expect(ledger.close(2, 1)).toMatchObject({ delivered: 1, lost: 2, duplicated: 0 });
  });

  it("does not call a failed delivery an end, and its repetition no duplicate.", () => {
    const ledger = ledgerOfThree();
    ledger.start(0, start, start);
    ledger.fail();
    expect(ledger.ended).toBe(0);
    deliver(ledger, 0, start + 5);
    expect(ledger.close(2, 1)).toMatchObject({ delivered: 1, retried: 1, duplicated: 0 });
  });

  it("calls a message duplicated once, however often it comes again.", () => {
    const ledger = ledgerOfThree();
    for (let times = 0; times < 3; times += 1) deliver(ledger, 0, start);
    expect(ledger.close(2, 1)).toMatchObject({ delivered: 1, duplicated: 1 });
  });

  it("calls a cancelled message duplicated when it is delivered, before or after the answer.", () => {
    const ledger = ledgerOfThree();
    ledger.cancel(0);
    deliver(ledger, 0, start);
    deliver(ledger, 1, start + 10);
    ledger.cancel(1);
    ledger.cancel(2);
    ledger.start(2, start + 20, start + 20);
    expect(ledger.close(0, 1)).toMatchObject({ duplicated: 3, lost: 0 });
  });

  it("calls duplicated what the engine would deliver once more.", () => {
    const ledger = ledgerOfThree();
    for (const number of [0, 1, 2]) deliver(ledger, number, start + 10 * number);
    expect(ledger.close(1, 1)).toMatchObject({ lost: 0, duplicated: 1 });
  });

  it("calls early what starts before the due time asked for, whatever due time the engine claims.", () => {
    const ledger = ledgerOfThree();
    deliver(ledger, 0, start, start - 0.1);
    deliver(ledger, 1, start - 1_000, start + 9);
    deliver(ledger, 2, start + 20, start + 20);
    expect(ledger.close(0, 1)).toMatchObject({ early: 2 });
  });

  it("measures lateness from the due time of the delivery, failed ones too.", () => {
    const ledger = ledgerOfThree();
    ledger.start(0, start, start + 1);
    ledger.fail();
    deliver(ledger, 0, start + 100, start + 103);
    const { lateness } = ledger.close(2, 1);
    expect([lateness.count, lateness.percentile(50), lateness.max]).toEqual([2, 1, 3]);
  });
});

describe("Lateness", () => {
  const oneToHundred = new Lateness(Array.from({ length: 100 }, (_, index) => 100 - index));

  it("has the percentiles by nearest rank.", () => {
    expect([1, 50, 99, 100].map((percent) => oneToHundred.percentile(percent))).toEqual([1, 50, 99, 100]);
    expect(oneToHundred.max).toBe(100);
  });

  it("counts from the lower bound on and below the upper one.", () => {
    expect(oneToHundred.countBetween(10, 20)).toBe(10);
    expect(oneToHundred.countBetween(0, Infinity)).toBe(100);
    expect(oneToHundred.countBetween(100.5, 200)).toBe(0);
  });

  it("of nothing is 0.", () => {
    const none = new Lateness([]);
    expect([none.percentile(50), none.max, none.countBetween(0, 1)]).toEqual([0, 0, 0]);
  });
});

describe("The plan of a run", () => {
  const plan = makePlan(demoScenario, start);

  it("spreads the due times over the whole stretch, after the lead.", () => {
    const first = start + demoScenario.lead;
    expect(plan.dueAt.every((due) => due >= first && due <= first + demoScenario.spread)).toBe(true);
    const perSecond = [0, 0, 0, 0, 0];
    for (const due of plan.dueAt) perSecond[Math.min(4, Math.floor((due - first) / 1_000))]! += 1;
    for (const count of perSecond) expect(Math.abs(count - 20_000)).toBeLessThan(1_000);
  });

  it("lets about one in 1,000 fail and cancels about one in 100.", () => {
    const failing = plan.fails.reduce((sum, fails) => sum + fails, 0);
    expect(failing).toBeGreaterThan(50);
    expect(failing).toBeLessThan(150);
    expect(plan.cancellations.length).toBeGreaterThan(800);
    expect(plan.cancellations.length).toBeLessThan(1_200);
  });

  it("cancels in the order of time, some messages only after they came due.", () => {
    const times = plan.cancellations.map(({ at }) => at);
    expect(times).toEqual([...times].sort((one, other) => one - other));
    expect(plan.cancellations.some(({ number, at }) => at >= plan.dueAt[number]!)).toBe(true);
  });

  it("is the same for the same seed, and another for another.", () => {
    expect(makePlan(demoScenario, start)).toEqual(plan);
    expect(makePlan({ ...demoScenario, seed: 2 }, start).dueAt).not.toEqual(plan.dueAt);
  });
});
