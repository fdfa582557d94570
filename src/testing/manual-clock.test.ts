import { beforeEach, describe, expect, it, vi } from "vitest";
import { type ManualClock, manualClock } from "./manual-clock.js";

const start = 1_000_000;

describe("a manual clock", () => {
  let clock: ManualClock;
  /** What ran, and when it was by the clock. */
  let ran: [what: string, at: number][];

  beforeEach(() => {
    clock = manualClock(start);
    ran = [];
  });

  function note(what: string): () => void {
    return () => void ran.push([what, clock.now()]);
  }

  it("stands still until it is moved, and starts at the same moment in every run", async () => {
    expect(manualClock().now()).toBe(Date.parse("2026-01-01T00:00:00Z"));
    expect(manualClock(new Date(5)).now()).toBe(5);
    await new Promise((resolve) => setTimeout(resolve, 2));
    expect(clock.now()).toBe(start);
  });

  it("runs timers in order, each at its own time, those of one moment in the order in which they were set", async () => {
    clock.runAt(start + 20, note("c"));
    clock.runAt(start + 10.5, note("a"));
    clock.runAt(start + 20, note("d"));
    clock.runAt(start + 15, note("b"));
    clock.runAt(start + 31, note("too late"));
    await clock.advance(30);
    expect(ran).toEqual([
      ["a", start + 10.5],
      ["b", start + 15],
      ["c", start + 20],
      ["d", start + 20],
    ]);
    expect(clock.now()).toBe(start + 30);
  });

  it("runs no timer that was cancelled, and lets a timer be cancelled again and after it ran", async () => {
    const cancel = clock.runAt(start + 10, note("cancelled"));
    const cancelLater = clock.runAt(start + 11, note("kept"));
    const cancelDue = clock.runAt(start, note("cancelled, due"));
    cancel();
    cancel();
    cancelDue();
    cancelDue();
    await clock.advance(20);
    cancelLater();
    expect(ran).toEqual([["kept", start + 11]]);
  });

  it("runs a timer whose time has come without being moved, though never at once", async () => {
    await new Promise<void>((resolve) => {
      clock.runAt(start, resolve);
      clock.runAt(start - 1, note("due"));
      expect(ran).toEqual([]);
    });
    await clock.advance(0);
    expect(ran).toEqual([["due", start]]);
  });

  it("runs timers that are set on the way, at their own time", async () => {
    clock.runAt(start + 10, () => {
      note("first")();
      clock.runAt(start + 5, note("at once"));
      clock.runAt(start + 15, note("second"));
    });
    clock.runAt(start + 20, note("third"));
    await clock.advance("20ms");
    expect(ran).toEqual([
      ["first", start + 10],
      ["at once", start + 10],
      ["second", start + 15],
      ["third", start + 20],
    ]);
  });

  it("lets the program come to rest before it goes on: promises, turns of the event loop, and what these set", async () => {
    async function work(what: string): Promise<void> {
      for (let turn = 0; turn < 5; turn++) {
        await new Promise((resolve) => setImmediate(resolve));
        clock.now();
      }
      for (let tick = 0; tick < 1_000; tick++) await Promise.resolve();
      clock.runAt(clock.now() + 5, note(what));
    }
    clock.runAt(start + 10, () => void work("set after a while"));
    clock.runAt(start + 20, note("last"));
    await clock.advance(30);
    expect(ran).toEqual([
      ["set after a while", start + 15],
      ["last", start + 20],
    ]);
  });

  it("lets what was begun before it is moved come to rest first", async () => {
    void (async () => {
      for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
      clock.runAt(clock.now() + 1, note("begun before"));
    })();
    await clock.advance(10);
    expect(ran).toEqual([["begun before", start + 1]]);
  });

  it("is back although the program never rests", async () => {
    let over = false;
    const spin = (): void => {
      clock.now();
      if (!over) setImmediate(spin);
    };
    spin();
    await clock.advance("1h");
    over = true;
    expect(clock.now()).toBe(start + 3_600_000);
  });

  it("moves under fake timers", async () => {
    vi.useFakeTimers();
    try {
      clock.runAt(start + 10, note("a"));
      await clock.advance(10);
      expect(ran).toEqual([["a", start + 10]]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("goes to a point in time, and does one advance after the other", async () => {
    clock.runAt(start + 10, note("a"));
    await Promise.all([clock.advance(5), clock.advanceTo(new Date(start + 20)), clock.advance("10ms")]);
    expect(ran).toEqual([["a", start + 10]]);
    expect(clock.now()).toBe(start + 30);
  });

  it("refuses to go back, and what is no time", async () => {
    const invalid = expect.objectContaining({ code: "invalid-argument" });
    await expect(clock.advanceTo(start - 1)).rejects.toEqual(invalid);
    await expect(clock.advanceTo(new Date(Number.NaN))).rejects.toEqual(invalid);
    await expect(clock.advance(-1)).rejects.toEqual(invalid);
    await expect(clock.advance("soon")).rejects.toEqual(invalid);
    expect(() => manualClock(Number.NaN)).toThrow(invalid);
    await clock.advanceTo(start);
    expect(clock.now()).toBe(start);
  });

  it.each<[what: string, call: (clock: ManualClock) => unknown, sentence: string]>([
    [
      "a start that is text",
      () => manualClock("2026-01-01" as unknown as Date),
      'start is "2026-01-01"; accepted is a valid Date or Unix ms.',
    ],
    ["a start that is null", () => manualClock(null as unknown as Date), "start is null; "],
    [
      "a timer without a function",
      (it) => it.runAt(start, undefined as unknown as () => void),
      "callback is undefined; ",
    ],
    ["a timer for no time", (it) => it.runAt(Number.NaN, () => {}), "time is NaN; accepted is a number of Unix ms."],
    ["a timer for text", (it) => it.runAt("1" as unknown as number, () => {}), 'time is "1"; '],
    [
      "a duration as a time",
      (it) => it.advanceTo("30m" as unknown as Date),
      'the time to advance to is "30m"; accepted is a valid Date or Unix ms.',
    ],
  ])("refuses %s with a sentence", async (_, call, sentence) => {
    await expect(async () => call(clock)).rejects.toThrow(
      expect.objectContaining({ code: "invalid-argument", message: expect.stringContaining(sentence) }),
    );
  });

  it("rejects the advance in which a timer throws, and goes on with the next", async () => {
    clock.runAt(start + 10, () => {
      throw new RangeError("thrown by a timer");
    });
    clock.runAt(start + 20, note("after it"));
    await expect(clock.advance(30)).rejects.toThrow("thrown by a timer");
    await clock.advanceTo(start + 30);
    expect(ran).toEqual([["after it", start + 20]]);
  });
});
