import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { systemClock, timerClock } from "./clock.js";

const day = 86_400_000;

describe("a clock on the timers of Node", () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: 0 });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("runs a callback once, as soon as its time has come", () => {
    const callback = vi.fn<() => void>();
    systemClock.runAt(100.5, callback);
    vi.advanceTimersByTime(100);
    expect(callback).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(callback).toHaveBeenCalledOnce();
    vi.advanceTimersByTime(day);
    expect(callback).toHaveBeenCalledOnce();
  });

  it("never runs a callback at once, even when its time has passed", () => {
    const callback = vi.fn<() => void>();
    systemClock.runAt(-5, callback);
    expect(callback).not.toHaveBeenCalled();
    vi.advanceTimersByTime(0);
    expect(callback).toHaveBeenCalledOnce();
  });

  it("waits on when a timer fires before its source of time agrees", () => {
    let now = 0;
    const callback = vi.fn<() => void>();
    timerClock(() => now).runAt(10, callback);
    now = 9.2;
    vi.advanceTimersByTime(10);
    expect(callback).not.toHaveBeenCalled();
    now = 10;
    vi.advanceTimersByTime(1);
    expect(callback).toHaveBeenCalledOnce();
  });

  it("waits longer than a timer of Node can, 24.8 days", () => {
    const callback = vi.fn<() => void>();
    systemClock.runAt(60 * day, callback);
    vi.advanceTimersByTime(60 * day - 1);
    expect(callback).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(callback).toHaveBeenCalledOnce();
  });

  it("runs a callback after a duration, however the time is set meanwhile, and waits longer than a timer of Node can", () => {
    let now = 1_000;
    const clock = timerClock(() => now);
    const callback = vi.fn<() => void>();
    const long = vi.fn<() => void>();
    clock.runAfter(100, callback);
    clock.runAfter(60 * day, long);
    clock.runAfter(10, long)();
    now = -1e9;
    const before = clock.elapsed();
    vi.advanceTimersByTime(99);
    expect(callback).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect([callback.mock.calls.length, clock.elapsed() - before]).toEqual([1, 100]);
    vi.advanceTimersByTime(60 * day - 101);
    expect(long).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(long).toHaveBeenCalledOnce();
  });

  it("never runs a callback at once, however short the duration", () => {
    const callback = vi.fn<() => void>();
    for (const duration of [0, -1, Number.NEGATIVE_INFINITY]) systemClock.runAfter(duration, callback);
    expect(callback).not.toHaveBeenCalled();
    vi.advanceTimersByTime(0);
    expect(callback).toHaveBeenCalledTimes(3);
  });

  it("runs nothing that was cancelled, also when the timer was set again meanwhile", () => {
    const callback = vi.fn<() => void>();
    const cancel = systemClock.runAt(60 * day, callback);
    vi.advanceTimersByTime(50 * day);
    cancel();
    cancel();
    vi.advanceTimersByTime(50 * day);
    expect(callback).not.toHaveBeenCalled();
    expect(vi.getTimerCount()).toBe(0);
  });
});

it("the clock of this machine tells Unix time in ms", () => {
  const before = Date.now();
  expect(systemClock.now()).toBeGreaterThanOrEqual(before);
  expect(systemClock.now()).toBeLessThan(before + 60_000);
});
