import { describe, expect, it, vi } from "vitest";
import { ServerClock } from "./server-clock.js";

const hour = 3_600_000;

/** A server whose clock is `ahead` of the local one, asked over a network with the given delays. */
function simulation(ahead = 1_000_000) {
  const local = { time: 5_000, ahead };
  const clock = new ServerClock({ monotonic: () => local.time, wall: () => 777_000 });
  return {
    clock,
    local,
    truth: () => local.time + local.ahead,
    /** Asks: the server looks at its clock `there` ms later, and the reply is heard `back` ms after that. */
    ask(there: number, back: number) {
      const sentAt = local.time;
      const serverTime = sentAt + there + local.ahead;
      local.time += there + back;
      clock.learn({ serverTime, resolution: 0, sentAt, receivedAt: local.time });
    },
  };
}

describe("the clock of the server", () => {
  it("is that of this machine until the server has told its time", () => {
    const { clock, local } = simulation();
    expect([clock.now(), clock.latest()]).toEqual([777_000, 777_000]);
    local.time += 10;
    expect(clock.now()).toBe(777_010);
  });

  it("is never ahead of the true time, and behind by no more than the way back took", () => {
    const { clock, ask, truth } = simulation();
    ask(30, 20);
    expect(clock.now()).toBe(truth() - 20);
    expect(clock.latest()).toBe(truth() + 30);
  });

  it("keeps the best bounds of several replies", () => {
    const { clock, ask, truth } = simulation();
    ask(1, 40);
    ask(40, 2);
    ask(300, 300);
    expect(clock.now()).toBe(truth() - 2);
    expect(clock.latest()).toBe(truth() + 1);
  });

  it("counts the digits that a reply does not show", () => {
    const clock = new ServerClock({ monotonic: () => 10, wall: () => 0 });
    clock.learn({ serverTime: 500, resolution: 1, sentAt: 10, receivedAt: 10 });
    expect([clock.now(), clock.latest()]).toEqual([500, 501]);
  });

  it("keeps bounds for 5 s and forgets them within 15 s, so drift cannot add up", () => {
    const { clock, local, ask, truth } = simulation();
    ask(0, 1);
    local.time += 4_500;
    ask(50, 50);
    expect(truth() - clock.now()).toBe(1);
    local.time += 4_500;
    ask(50, 50);
    for (let i = 0; i < 3; i++) {
      local.time += 4_500;
      ask(50, 50);
    }
    expect(truth() - clock.now()).toBe(50);
  });

  it("follows a server whose clock drifts", () => {
    const { clock, local, ask, truth } = simulation();
    for (let second = 0; second < 300; second++) {
      ask(0.1, 0.1);
      local.time += 1_000;
      // 200 parts in a million slower: what runs ahead is at most the drift of 15 s.
      local.ahead -= 0.2;
      expect(Math.abs(truth() - clock.now())).toBeLessThan(3.2);
    }
  });

  it.each([
    ["forward", hour],
    ["back", -hour],
  ])("follows a step %s by an hour with the next reply", (_, step) => {
    const { clock, local, ask, truth } = simulation(100 * hour);
    ask(5, 5);
    local.time += 100;
    local.ahead += step;
    ask(200, 300);
    expect(truth() - clock.now()).toBe(300);
    expect(clock.latest() - truth()).toBe(200);
  });

  it("follows a step that comes while samples of two windows count", () => {
    const { clock, local, ask, truth } = simulation(100 * hour);
    ask(1, 1);
    local.time += 6_000;
    ask(30, 30);
    local.ahead -= 10;
    ask(1, 1);
    expect(truth() - clock.now()).toBe(1);
  });

  it("does not take a slow reply for a step", () => {
    const { clock, ask, truth } = simulation();
    ask(1, 1);
    ask(0, 5_000);
    ask(5_000, 0);
    expect(truth() - clock.now()).toBe(0);
    expect(clock.latest() - truth()).toBe(0);
  });
});

describe("a step of a second or more", () => {
  it.each([
    ["back", -hour, 1],
    ["forward", hour, 1],
    ["that is drift", -10, 0],
  ])("%s is told to who listens until it ends that", (_, step, told) => {
    const { clock, local, ask } = simulation(100 * hour);
    const heard = vi.fn<() => void>();
    const notAnyMore = vi.fn<() => void>();
    clock.onStep(heard);
    clock.onStep(notAnyMore)();
    ask(1, 1);
    ask(1, 1);
    local.ahead += step;
    ask(1, 1);
    ask(1, 1);
    expect([heard.mock.calls.length, notAnyMore.mock.calls.length]).toEqual([told, 0]);
  });
});

describe("a timer of the clock", () => {
  it("for a duration does not care what the server says the time is", async () => {
    const clock = new ServerClock({ wall: () => 0 });
    const learn = (serverTime: number) => {
      const now = performance.now();
      clock.learn({ serverTime, resolution: 0, sentAt: now, receivedAt: now });
    };
    learn(hour);
    const start = clock.elapsed();
    const fired = new Promise<void>((resolve) => clock.runAfter(30, resolve));
    learn(0);
    await fired;
    expect(clock.elapsed() - start).toBeGreaterThanOrEqual(28);
  });

  it("that was set before the server told its time keeps the wait it was set for, though this machine is an hour ahead", async () => {
    const clock = new ServerClock({ wall: () => hour });
    const start = performance.now();
    const fired = new Promise<void>((resolve) => clock.runAt(clock.now() + 20, resolve));
    clock.learn({ serverTime: 0, resolution: 0, sentAt: start, receivedAt: start });
    await fired;
    expect(performance.now() - start).toBeGreaterThanOrEqual(20);
  });

  it("fires when the server's time has come, not that of this machine", async () => {
    const clock = new ServerClock({ wall: () => 0 });
    const now = performance.now();
    clock.learn({ serverTime: 1_000_000, resolution: 0, sentAt: now, receivedAt: now });
    const firedAt = await new Promise<number>((resolve) => clock.runAt(1_000_030, () => resolve(clock.now())));
    expect(firedAt).toBeGreaterThanOrEqual(1_000_030);
    expect(firedAt).toBeLessThan(1_001_000);
  });

  it("fires early by this machine's plan when the server's clock steps over its time", async () => {
    const clock = new ServerClock({ wall: () => 0 });
    const learn = (serverTime: number) => {
      const now = performance.now();
      clock.learn({ serverTime, resolution: 0, sentAt: now, receivedAt: now });
    };
    learn(0);
    const fired = new Promise<void>((resolve) => clock.runAt(hour, resolve));
    learn(2 * hour);
    await expect(fired).resolves.toBeUndefined();
  });

  it("waits longer when the server's clock steps back, and not at all when it was cancelled", async () => {
    const clock = new ServerClock({ wall: () => 0 });
    const learn = (serverTime: number) => {
      const now = performance.now();
      clock.learn({ serverTime, resolution: 0, sentAt: now, receivedAt: now });
    };
    learn(hour);
    const tooEarly = vi.fn<() => void>();
    const cancelled = vi.fn<() => void>();
    const cancel = clock.runAt(hour + 20, tooEarly);
    clock.runAt(hour + 20, cancelled)();
    learn(0);
    await new Promise<void>((resolve) => clock.runAt(40, resolve));
    expect(tooEarly).not.toHaveBeenCalled();
    expect(cancelled).not.toHaveBeenCalled();
    cancel();
  });
});
