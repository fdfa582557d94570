import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ScaleQueue } from "./scale-queue.js";

let scale: ScaleQueue;
beforeEach(async () => {
  scale = await ScaleQueue.start();
});
afterEach(() => scale[Symbol.asyncDispose]());

const total = 20_000;

describe("With 20,000 leases that end in one ms", () => {
  it("a claim whose reply was lost finds what it took, and no script works on more than 1,000 or for 5 ms", async () => {
    await scale.schedule(0, total, { dueAt: () => 0, bytes: 94 });
    const claim = (token: string) =>
      scale.queue.claim({ limit: 250, lease: 600_000, consumer: "c", token, attempts: 5 });
    let last = await claim("t0");
    for (let held = 250; held < total; held += 250) last = await claim(`t${held}`);
    await scale.gatherLeases(last.leaseUntil);
    const again = () => claim(`t${total - 250}`);

    expect(last.messages).toHaveLength(250);
    expect(await again()).toMatchObject({ messages: last.messages, leaseUntil: last.leaseUntil });
    const named = await scale.named(again);
    expect(named).toHaveLength(20);
    expect(Math.max(...named)).toBeLessThanOrEqual(1_100);
    expect(await scale.work(Array.from({ length: 20 }, () => again))).toBeLessThan(5);
    expect(await scale.queue.counts()).toMatchObject({ leased: total });
  }, 60_000);
});
