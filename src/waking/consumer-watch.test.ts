import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { PunctualError } from "../errors.js";
import { ConsumerWatch } from "./consumer-watch.js";
import { queueKeys } from "../engines/redis/keys.js";
import { ServerClock } from "../connection/server-clock.js";
import type { Supervisor } from "../connection/supervisor.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const refused = new PunctualError("misconfigured", "No right to the channel.");

/** A watch on a connection of which the test decides everything. */
function watchOn(subscribe: () => Promise<() => Promise<void>>) {
  const told: string[] = [];
  const state: { listener: (state: "ready" | "recovering" | "closed", cause?: PunctualError) => void } = {
    listener: () => {},
  };
  const clock = new ServerClock();
  const work = {
    clock,
    closed: false,
    subscribe,
    onState(listener: typeof state.listener) {
      state.listener = listener;
      return () => void (state.listener = () => {});
    },
    evaluate: () => Promise.reject(new PunctualError("not-sent", "No connection.")),
  };
  const watcher = {
    wake: (at: number) => told.push(`wake ${at <= clock.now() ? "now" : "later"}`),
    postpone: () => told.push("postpone"),
    interrupted: ({ code }: PunctualError) => told.push(`interrupted ${code}`),
    recovered: () => told.push("recovered"),
  };
  // The watch uses nothing else of its connection.
  const watch = new ConsumerWatch(work as unknown as Supervisor, queueKeys("p", "q"), { consumer: "c", watcher });
  return { watch, told, work, clock, tell: (...news: Parameters<typeof state.listener>) => state.listener(...news) };
}

it("goes on asking for a channel that is refused late, and is out of reach until it is heard", async () => {
  let answer: Promise<() => Promise<void>> = new Promise((_, reject) => setTimeout(() => reject(refused), 3_000));
  let asked = 0;
  const { watch, told, tell } = watchOn(() => (asked++, answer));
  const started = watch.start();
  await vi.advanceTimersByTimeAsync(2_000);
  await started;
  expect(told).toEqual([]);
  answer = Promise.reject(refused);
  answer.catch(() => {});
  await vi.advanceTimersByTimeAsync(1_000);
  expect(told).toEqual(["interrupted misconfigured"]);
  tell("recovering", new PunctualError("not-sent", "Lost."));
  tell("ready");
  expect(told).not.toContain("recovered");
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked).toBeGreaterThan(50);
  answer = Promise.resolve(async () => {});
  await vi.advanceTimersByTimeAsync(1_000);
  expect(told.at(-1)).toBe("recovered");
  const before = asked;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked).toBe(before);
  await watch.stop();
});

it("asks no longer when the watch has ended", async () => {
  let asked = 0;
  const { watch } = watchOn(() => {
    asked++;
    return new Promise((_, reject) => setTimeout(() => reject(refused), 2_500));
  });
  const started = watch.start();
  await vi.advanceTimersByTimeAsync(2_600);
  await started;
  await watch.stop();
  // The one until it would have asked again would keep the process alive for so long.
  expect(vi.getTimerCount()).toBe(0);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked).toBe(1);
});

it("is told that the engine was closed", async () => {
  const { watch, told, tell } = watchOn(async () => async () => {});
  await watch.start();
  tell("closed", new PunctualError("closed", "Closed."));
  expect(told).toEqual(["interrupted closed"]);
  await watch.stop();
});

it("has its consumer claim at once when the server's clock has stepped", async () => {
  const { watch, told, clock } = watchOn(async () => async () => {});
  await watch.start();
  const learn = (serverTime: number) => {
    const now = performance.now();
    clock.learn({ serverTime, resolution: 0, sentAt: now, receivedAt: now });
  };
  learn(3_600_000);
  learn(0);
  expect(told).toEqual(["wake now"]);
  await watch.stop();
  learn(3_600_000);
  expect(told).toHaveLength(1);
});
