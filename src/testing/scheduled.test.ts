import { AssertionError } from "node:assert";
import { describe, expect, it } from "vitest";
import { consumerStage } from "../../test/support/consumer-stage.js";
import { Queue } from "../queue.js";
import { manualClock } from "./manual-clock.js";
import { assertNotScheduled, assertScheduled, scheduled } from "./scheduled.js";

async function orders() {
  const { memory, clock } = consumerStage();
  const queue = new Queue<unknown>("orders", { engine: memory });
  await queue.schedule({ orderId: "A2", lines: [{ sku: 1, count: 2 }] }, { delay: "2h", id: "order:A2" });
  await queue.schedule({ orderId: "A1", by: { name: "Ada", age: 36 } }, { delay: "1h", id: "order:A1" });
  return { queue, clock };
}

describe("scheduled", () => {
  it("lists what waits, what is due already too, by due time", async () => {
    const { queue, clock } = await orders();
    await clock.advance("1h");
    expect((await scheduled(queue)).map(({ id, dueAt }) => [id, dueAt.toISOString()])).toEqual([
      ["order:A1", "2026-01-01T01:00:00.000Z"],
      ["order:A2", "2026-01-01T02:00:00.000Z"],
    ]);
  });

  it("lists more than a page", async () => {
    const { queue, put } = consumerStage();
    await put(...Array.from({ length: 1_500 }, (_, index) => `m${index}`));
    const there = await scheduled(queue);
    expect([there.length, new Set(there.map(({ id }) => id)).size]).toEqual([1_500, 1_500]);
  });
});

describe("assertScheduled", () => {
  it.each([
    [{}, 2],
    [{ id: "order:A1" }, 1],
    [{ payload: { orderId: "A1" } }, 1],
    [{ payload: { by: { name: "Ada" } } }, 1],
    [{ payload: { lines: [{ sku: 1, count: 2 }] } }, 1],
    [{ dueAt: new Date("2026-01-01T02:00:00Z") }, 1],
    [{ dueAt: Date.UTC(2026, 0, 1, 2) }, 1],
    [{ id: undefined, payload: undefined, dueAt: undefined }, 2],
  ])("finds %j", async (expected, count) => {
    const { queue } = await orders();
    expect(await assertScheduled(queue, expected)).toHaveLength(count);
    await expect(assertNotScheduled(queue, expected)).rejects.toThrow(AssertionError);
  });

  it.each([
    [{ id: "A1" }],
    [{ payload: { orderId: "A3" } }],
    [{ payload: { orderId: "A1", paid: undefined } }],
    [{ payload: { lines: [{ sku: 1 }] } }],
    [{ payload: null }],
    [{ dueAt: new Date("2026-01-01T01:00:00.001Z") }],
    [{ id: "order:A1", dueAt: new Date("2026-01-01T02:00:00Z") }],
  ])("does not find %j", async (expected) => {
    const { queue } = await orders();
    await expect(assertScheduled(queue, expected)).rejects.toThrow(AssertionError);
    await assertNotScheduled(queue, expected);
  });

  it("fails with a list of what is there", async () => {
    const { queue } = await orders();
    await expect(assertScheduled(queue, { payload: { orderId: "B7" } })).rejects.toThrow(
      `No message that waits in "orders" is like { payload: { orderId: 'B7' } }. What waits there:
  order:A1  due 2026-01-01T01:00:00.000Z  { orderId: 'A1', by: { name: 'Ada', age: 36 } }
  order:A2  due 2026-01-01T02:00:00.000Z  { orderId: 'A2', lines: [ { sku: 1, count: 2 } ] }`,
    );
    await queue.purge("waiting");
    await expect(assertScheduled(queue, {})).rejects.toThrow("Nothing waits there.");
  });

  it("lists no more than fits a screen", async () => {
    const { queue, put } = consumerStage();
    await put(...Array.from({ length: 25 }, (_, index) => `m${index}`));
    await expect(assertScheduled(queue, { id: "x" })).rejects.toThrow(/m19 .*\n {2}… and 5 more$/);
  });

  it("compares bytes as a whole", async () => {
    const { memory } = consumerStage();
    const { binaryCodec } = await import("../codec.js");
    const queue = new Queue("b", { engine: memory, codec: binaryCodec() });
    await queue.schedule(new Uint8Array([1, 2, 3]), { delay: "1h" });
    expect(await assertScheduled(queue, { payload: new Uint8Array([1, 2, 3]) })).toHaveLength(1);
    await assertNotScheduled(queue, { payload: new Uint8Array([1, 2]) });
  });
});

it("A message that comes due between two pages is neither missed nor seen twice.", async () => {
  const clock = manualClock();
  const message = (id: string) => ({ id, payload: 1, dueAt: new Date(clock.now()) });
  const pages = { scheduled: [message("b"), message("c")], due: [message("a"), message("b")] };
  const asked: string[] = [];
  const moving = {
    name: "q",
    async list({ state }: { state: "scheduled" | "due" }) {
      asked.push(state);
      return { messages: pages[state], cursor: undefined };
    },
  };
  const found = await scheduled(moving as unknown as Queue<number>);
  expect([found.map(({ id }) => id), asked]).toEqual([
    ["a", "b", "c"],
    ["scheduled", "due"],
  ]);
});
