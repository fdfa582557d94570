import { beforeEach, describe, expect, it } from "vitest";
import { type ManualClock, manualClock } from "../../testing/manual-clock.js";
import { Duty } from "./duty.js";

const poll = 5_000;
const nothing = Infinity;

describe("who is on duty", () => {
  let duty: Duty;
  let clock: ManualClock;
  let nextWork: number;
  /** Who was woken, and for when. */
  let woken: [consumer: string, at: number][];

  function join(...consumers: string[]): void {
    for (const consumer of consumers) {
      duty.join(consumer, {
        wake: (at) => woken.push([consumer, at]),
        postpone() {},
        interrupted() {},
        recovered() {},
      });
    }
  }

  /** A claim that found less than it asked for. */
  function waits(consumer: string, work: number, now: number): number {
    return duty.claimed(consumer, { hasRoom: true, work, now });
  }

  /** A claim that filled its caller. */
  function isFull(consumer: string, work: number, now: number): number {
    return duty.claimed(consumer, { hasRoom: false, work, now });
  }

  beforeEach(() => {
    clock = manualClock(0);
    nextWork = nothing;
    duty = new Duty({ poll, clock, nextWork: () => nextWork });
    woken = [];
    join("a", "b", "c");
  });

  it("sends the first that waits to the next message, and the others to their poll", () => {
    expect(waits("a", 700, 0)).toBe(700);
    expect(waits("b", 700, 0)).toBe(poll);
    expect(waits("c", 700, 10)).toBe(10 + poll);
    expect(woken).toEqual([]);
  });

  it("never waits for one that does not return, and has others see to what it leaves", () => {
    waits("a", 5_000, 0);
    join("d");
    expect(duty.claimed("d", { hasRoom: true, work: 1_000, now: 10, returns: false })).toBe(1_000);
    expect(duty.claimed("e", { hasRoom: false, work: 500, now: 20, returns: false })).toBe(20);
    expect(woken).toEqual([
      ["a", 1_000],
      ["a", 500],
    ]);
    // Had it been on duty, it would be so no more.
    expect(duty.claimed("a", { hasRoom: true, work: 500, now: 30, returns: false })).toBe(500);
    woken = [];
    duty.expect(400);
    expect(woken).toEqual([]);
    waits("b", 400, 40);
    duty.expect(300);
    expect(woken).toEqual([["b", 300]]);
  });

  it("lets the one on duty come back after a poll when nothing is due before", () => {
    expect(waits("a", nothing, 0)).toBe(poll);
    expect(waits("a", 60_000, poll)).toBe(2 * poll);
  });

  it("wakes only the one on duty for what comes before the planned time, and nobody for what comes later", () => {
    waits("a", 700, 0);
    waits("b", 700, 0);
    duty.expect(700);
    duty.expect(900);
    expect(woken).toEqual([]);
    duty.expect(300);
    duty.expect(300);
    duty.expect(400);
    expect(woken).toEqual([["a", 300]]);
  });

  it("passes the duty on when a claim fills its caller: first to the one that has waited longest", () => {
    waits("a", nothing, 0);
    waits("b", nothing, 0);
    waits("c", nothing, 1);
    expect(isFull("a", 100, 100)).toBe(100);
    expect(woken).toEqual([["b", 100]]);
    expect(isFull("b", 800, 100)).toBe(100);
    expect(woken).toEqual([
      ["b", 100],
      ["c", 800],
    ]);
  });

  it("wakes nobody when a full one leaves nothing behind", () => {
    waits("a", nothing, 0);
    waits("b", nothing, 0);
    isFull("a", nothing, 100);
    expect(woken).toEqual([]);
    duty.expect(200);
    expect(woken).toEqual([["b", 200]]);
  });

  it("wakes nobody who is full", () => {
    isFull("a", nothing, 0);
    duty.expect(100);
    expect(woken).toEqual([]);
  });

  it("sends one that left something at the limit of a claim again at once, without waking others", () => {
    waits("a", nothing, 0);
    waits("b", nothing, 0);
    expect(waits("b", 90, 100)).toBe(100);
    expect(woken).toEqual([]);
    // It is on duty now: when it is filled, the one that was on duty before comes next.
    isFull("b", 95, 110);
    expect(woken).toEqual([["a", 95]]);
  });

  it("tells the one on duty of a lease that ends before it looks again", () => {
    waits("a", nothing, 0);
    expect(waits("b", 1_000, 0)).toBe(poll);
    expect(woken).toEqual([["a", 1_000]]);
  });

  it("passes the duty on when the watch of the one on duty ends", () => {
    waits("a", 700, 0);
    waits("b", 700, 0);
    duty.leave("b", 700);
    waits("c", 700, 0);
    expect(woken).toEqual([]);
    duty.leave("a", 700);
    expect(woken).toEqual([["c", 700]]);
  });

  it("replaces one on duty that did not come, and does not ask it again before it claims", () => {
    waits("a", 700, 0);
    waits("b", 700, 0);
    waits("c", 700, 0);
    expect(waits("b", 900, 749)).toBe(749 + poll);
    expect(waits("b", 900, 750)).toBe(900);
    isFull("b", nothing, 900);
    isFull("c", nothing, 900);
    duty.expect(1_000);
    expect(woken).toEqual([]);
    expect(waits("a", 1_000, 950)).toBe(1_000);
  });

  it("wakes another one when the one on duty has not come 50 ms after its time, although nobody claims", async () => {
    waits("a", 700, 0);
    waits("b", 700, 0);
    nextWork = 700;
    await clock.advance(749);
    expect(woken).toEqual([]);
    await clock.advance(1);
    expect(woken).toEqual([["b", 700]]);
  });

  it("looks after the one on duty anew each time that it came", async () => {
    waits("a", 700, 0);
    waits("b", 700, 0);
    await clock.advance(700);
    waits("a", 900, 700);
    nextWork = 900;
    await clock.advance(249);
    expect(woken).toEqual([]);
    await clock.advance(1);
    expect(woken).toEqual([["b", 900]]);
  });

  it("leaves no timer behind when the last watch ends", () => {
    const timers = new Set<object>();
    const set = () => {
      const timer = {};
      timers.add(timer);
      return () => timers.delete(timer);
    };
    duty = new Duty({
      poll,
      nextWork: () => nextWork,
      clock: { now: () => 0, elapsed: () => 0, runAt: set, runAfter: set },
    });
    join("a", "b");
    waits("a", 700, 0);
    waits("b", 700, 0);
    expect(timers.size).toBe(1);
    duty.leave("a", nothing);
    duty.leave("b", nothing);
    expect(timers.size).toBe(0);
  });

  it("depends on nobody without a watch, and tells it the next time all the same", () => {
    expect(isFull("stranger", 700, 0)).toBe(0);
    expect(waits("stranger", 700, 0)).toBe(700);
    expect(waits("stranger", 60_000, 0)).toBe(poll);
    expect(waits("stranger", 50, 100)).toBe(100);
    expect(waits("a", 700, 0)).toBe(700);
    duty.expect(300);
    expect(woken).toEqual([["a", 300]]);
  });
});
