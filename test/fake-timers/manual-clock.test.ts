import { Queue } from "punctual";
import { memoryEngine } from "punctual/engines/memory";
import { manualClock } from "punctual/testing";
import { expect, it } from "vitest";

it("a test schedules an order for in 30 minutes, advances 30 minutes, and sees that the handler has run", async () => {
  const clock = manualClock();
  await using engine = memoryEngine({ clock });
  const orders = new Queue<{ orderId: string }>("orders", { engine });
  const expired: string[] = [];
  await using _consumer = orders.consume(async (message) => {
    expired.push(message.payload.orderId);
  });

  await orders.schedule({ orderId: "A1" }, { delay: "30m" });
  await clock.advance("29m");
  expect(expired).toEqual([]);
  await clock.advance("1m");
  expect(expired).toEqual(["A1"]);
  expect(await orders.counts()).toMatchObject({ scheduled: 0, due: 0, leased: 0, dead: 0 });
});

it("a test sees an order that is retried by the policy, at the times of the policy", async () => {
  const clock = manualClock(0);
  await using engine = memoryEngine({ clock });
  const orders = new Queue<string>("orders", { engine });
  const tries: number[] = [];
  await using _consumer = orders.consume(
    () => {
      tries.push(clock.now());
      throw new Error("the shop is closed");
    },
    { retry: { attempts: 3, backoff: (attempt) => (attempt === 1 ? "10m" : "1h") } },
  );

  await orders.schedule("A1", { delay: "30m", id: "A1" });
  await clock.advance("3h");
  expect(tries).toEqual([1_800_000, 2_400_000, 6_000_000]);
  expect(await orders.get("A1")).toMatchObject({ state: "dead", attempt: 3, buried: { reason: "attempts" } });
});

it("a test sees a handler that takes an hour keep its message", async () => {
  const clock = manualClock(0);
  await using engine = memoryEngine({ clock });
  const orders = new Queue<string>("orders", { engine });
  let runs = 0;
  await using _consumer = orders.consume(
    async () => {
      runs += 1;
      await new Promise<void>((resolve) => clock.runAt(clock.now() + 3_600_000, resolve));
    },
    { lease: "30s", concurrency: 2 },
  );

  await orders.schedule("A1", { delay: "30m" });
  await clock.advance("60m");
  expect(await orders.counts()).toMatchObject({ leased: 1 });
  await clock.advance("31m");
  expect(runs).toBe(1);
  expect(await orders.counts()).toMatchObject({ leased: 0, due: 0 });
});
