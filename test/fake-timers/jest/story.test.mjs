// Run by jest, in a project of its own that has punctual in its node_modules: see ../jest.test.ts.
import { afterEach, expect, it, jest } from "@jest/globals";
import { Queue } from "punctual";
import { memoryEngine } from "punctual/engines/memory";
import { manualClock } from "punctual/testing";

afterEach(() => {
  jest.useRealTimers();
});

it.each([
  ["with their default settings", undefined],
  ["that go on by themselves too", { advanceTimers: true }],
])("the fake timers of jest %s move an order by 30 minutes, and its handler has run", async (_, settings) => {
  jest.useFakeTimers(settings);
  const engine = memoryEngine();
  const orders = new Queue("orders", { engine });
  const expired = [];
  const consumer = orders.consume(async (message) => {
    expired.push(message.payload.orderId);
  });

  await orders.schedule({ orderId: "A1" }, { delay: "30m" });
  await jest.advanceTimersByTimeAsync(29 * 60_000);
  expect(expired).toEqual([]);
  await jest.advanceTimersByTimeAsync(60_000);
  expect(expired).toEqual(["A1"]);
  await consumer.close();
  await engine.close();
});

it("the fake timers of jest move an order also when they are installed after the engine was made", async () => {
  const engine = memoryEngine();
  const orders = new Queue("orders", { engine });
  jest.useFakeTimers();
  const expired = [];
  const consumer = orders.consume(async (message) => {
    expired.push(message.payload);
  });

  await orders.schedule("A1", { at: new Date(Date.now() + 30 * 60_000), id: "A1" });
  expect(await orders.cancel("B2")).toBe("absent");
  await jest.advanceTimersByTimeAsync(30 * 60_000);
  expect(expired).toEqual(["A1"]);
  await consumer.close();
  await engine.close();
  expect(jest.getTimerCount()).toBe(0);
});

it("a manual clock moves an order in jest, with and without fake timers", async () => {
  for (const useTimers of [jest.useRealTimers, jest.useFakeTimers]) {
    useTimers();
    const clock = manualClock();
    const engine = memoryEngine({ clock });
    const orders = new Queue("orders", { engine });
    const expired = [];
    const consumer = orders.consume(async (message) => {
      expired.push(message.payload);
    });

    await orders.schedule("A1", { delay: "30m" });
    await clock.advance("29m");
    expect(expired).toEqual([]);
    await clock.advance("1m");
    expect(expired).toEqual(["A1"]);
    await consumer.close();
    await engine.close();
  }
});
