import { describe, expect, it } from "vitest";
import { consumerStage } from "../../test/support/consumer-stage.js";
import { defaultRandomness } from "../consumer/consumer.js";
import { textCodec } from "../codec.js";
import { manualClock } from "../testing/manual-clock.js";
import { EmptyPause } from "./empty-pause.js";
import { readReceiveOptions } from "./receive-options.js";
import { Receiver } from "./receiver.js";

const never = undefined;

/** Asks and finds nothing, so many times in a row; when each time was. */
async function findNothing(pause: EmptyPause, clock: ReturnType<typeof manualClock>, times: number): Promise<number[]> {
  const at: number[] = [];
  const loop = (async () => {
    for (let asked = 0; asked < times; asked++) {
      await pause.over(never);
      at.push(clock.now());
      pause.foundNothing();
    }
  })();
  await clock.advance("1m");
  await loop;
  return at;
}

describe("EmptyPause", () => {
  it("lets 10 ms pass after the first empty answer, doubling to 1 s", async () => {
    const clock = manualClock(0);
    const at = await findNothing(new EmptyPause(clock), clock, 11);
    const waits = at.slice(1).map((time, index) => time - (at[index] ?? 0));
    expect(waits).toEqual([10, 20, 40, 80, 160, 320, 640, 1_000, 1_000, 1_000]);
  });

  it("counts from the last answer: who comes later does not wait", async () => {
    const clock = manualClock(0);
    const pause = new EmptyPause(clock);
    await findNothing(pause, clock, 10);
    const before = clock.now();
    await pause.over(never);
    expect(clock.now()).toBe(before);
  });

  it("lets those go who wait when it is reset, and starts anew", async () => {
    const clock = manualClock(0);
    const pause = new EmptyPause(clock);
    for (let time = 0; time < 20; time++) pause.foundNothing();
    const waiting = Promise.all([pause.over(never), pause.over(never)]);
    pause.reset();
    await waiting;
    expect(clock.now()).toBe(0);
    expect(await findNothing(pause, clock, 2)).toEqual([0, 10]);
  });

  it("ends for one whose signal aborts, and is not longer when the clock is set back", async () => {
    const controller = new AbortController();
    const timers: number[] = [];
    const clock = manualClock(0);
    let now = 1_000_000;
    clock.now = () => now;
    clock.runAfter = (duration) => (timers.push(duration), () => {});
    const pause = new EmptyPause(clock);
    pause.foundNothing();
    now = 0;
    const waiting = pause.over(controller.signal);
    expect(timers).toEqual([10]);
    controller.abort();
    await waiting;
  });
});

describe("receive without a wait", () => {
  it("claims a few times a second at most while nothing is due, and at once after a message or a schedule", async () => {
    const { memory, clock: engineClock, queue } = consumerStage();
    const clock = manualClock(0);
    const store = memory.open("q");
    let claims = 0;
    const counted = new Proxy(store, {
      get(target, name) {
        if (name === "claim") claims += 1;
        const value: unknown = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    const receiver = new Receiver(counted, textCodec(), defaultRandomness, clock);
    const look = () => receiver.receive(readReceiveOptions({}));
    let isLooking = true;
    let found = 0;
    const loop = (async () => {
      while (isLooking) found += (await look()).length;
    })();
    await clock.advance("10s");
    expect(claims).toBeGreaterThan(10);
    expect(claims).toBeLessThan(20);
    const before = clock.now();
    await queue.schedule("a", { delay: 0 });
    receiver.mayFind();
    await engineClock.advance(0);
    expect([found, clock.now() - before]).toEqual([1, 0]);
    isLooking = false;
    await clock.advance("1s");
    await loop;
  });

  it("does not wait for a clock that stands still", async () => {
    const { queue } = consumerStage();
    expect([await queue.receive(), await queue.receive(), await queue.receive()]).toEqual([[], [], []]);
  });
});
