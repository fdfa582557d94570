import { Queue } from "punctual";
import { memoryEngine } from "punctual/engines/memory";
import { afterEach, describe, expect, it, vi } from "vitest";

// All but `nextTick`, which vitest does not replace in the child processes that it runs tests in. Jest replaces it.
const everything: Parameters<typeof vi.useFakeTimers>[0] = {
  toFake: [
    "setTimeout",
    "clearTimeout",
    "setInterval",
    "clearInterval",
    "setImmediate",
    "clearImmediate",
    "Date",
    "performance",
    "hrtime",
    "queueMicrotask",
  ],
};

describe.each([
  ["with their default settings", undefined],
  ["that replace all they can", everything],
])("the fake timers of vitest %s", (_, settings) => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it("move an order by 30 minutes, and its handler has run", async () => {
    vi.useFakeTimers(settings);
    const engine = memoryEngine();
    const orders = new Queue<{ orderId: string }>("orders", { engine });
    const expired: string[] = [];
    const consumer = orders.consume(async (message) => {
      expired.push(message.payload.orderId);
    });

    await orders.schedule({ orderId: "A1" }, { delay: "30m" });
    await vi.advanceTimersByTimeAsync(29 * 60_000);
    expect(expired).toEqual([]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(expired).toEqual(["A1"]);
    await consumer.close();
    await engine.close();
    expect(vi.getTimerCount()).toBe(0);
  });

  it("move an order also when they are installed after the engine was made", async () => {
    const engine = memoryEngine();
    const orders = new Queue<string>("orders", { engine });
    vi.useFakeTimers(settings);
    const expired: string[] = [];
    const consumer = orders.consume(async (message) => {
      expired.push(message.payload);
    });

    await orders.schedule("A1", { at: new Date(Date.now() + 30 * 60_000), id: "A1" });
    await orders.schedule("B2", { delay: "7d" });
    expect(await orders.cancel("B2")).toBe("absent");
    await vi.advanceTimersByTimeAsync(30 * 60_000);
    expect(expired).toEqual(["A1"]);
    expect(await orders.cancel("A1")).toBe("absent");
    await consumer.close();
    await engine.close();
  });
});
