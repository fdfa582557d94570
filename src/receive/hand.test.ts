import { describe, expect, it } from "vitest";
import { scriptedQueue } from "../../test/support/scripted-queue.js";
import { textCodec } from "../codec.js";
import type { LeasedDelivery } from "../consumer/delivery.js";
import { LeaseKeeper } from "../consumer/lease-keeper.js";
import { Settler } from "../consumer/settle.js";
import type { ClaimResult } from "../engine.js";
import { fixedBackoff } from "../retry/fixed.js";
import { manualClock } from "../testing/manual-clock.js";
import { Hand } from "./hand.js";

function emptyHand() {
  const clock = manualClock(10_000);
  const released: string[] = [];
  const queue = scriptedQueue(clock, {
    async release(releases) {
      released.push(...releases.map(({ id }) => id));
      return releases.map(() => "settled" as const);
    },
  });
  const keeper = new LeaseKeeper<LeasedDelivery<string>>({
    queue,
    lease: 5_000,
    random: () => 0,
    onLost: (delivery) => delivery.end("lost"),
  });
  const settler = new Settler(queue, () => 0);
  const settings = { lease: 5_000, backoff: fixedBackoff("1s") };
  const hand = new Hand<string>({ queue, codec: textCodec(), settings, settler, keeper });
  const brought = (id: string, now: number, leaseUntil: number): ClaimResult => {
    const messages = [{ id, payload: Buffer.from(id), dueAt: 9_000, attempt: 1, attempts: 5 }];
    return { messages, leaseUntil, now, nextAt: now, buried: [], missing: [] };
  };
  return { clock, hand, brought, released };
}

describe("a hand", () => {
  it("hands back what was claimed so long ago that its lease has ended, so that no attempt is used", async () => {
    const { hand, brought, released } = emptyHand();
    const late = brought("a", 5_000, 10_000);
    expect([hand.isTooLate(late), hand.isTooLate(brought("a", 5_000, 10_001))]).toEqual([true, false]);
    await hand.handBack(late, "t");
    expect([hand.held, released]).toEqual([0, ["a"]]);
  });

  it("lets go of what has ended by the time of the store before it takes the same message anew", () => {
    const { hand, brought } = emptyHand();
    const [first] = hand.hold(brought("a", 10_000, 15_000), "t1");
    const [second] = hand.hold(brought("a", 15_000, 20_000), "t2");
    expect([first?.state, second?.state, hand.held]).toEqual(["lost", "held", 1]);
  });

  it("counts what is held and what is being settled", async () => {
    const { hand, brought, released } = emptyHand();
    const [a] = hand.hold(brought("a", 10_000, 15_000), "t");
    expect([hand.held, hand.settling]).toEqual([1, 0]);
    void a?.release();
    expect([hand.held, hand.settling]).toEqual([0, 1]);
    await hand.settled();
    expect([hand.held, hand.settling, released]).toEqual([0, 0, ["a"]]);
  });

  it("hands back what came too late, and only that which is still held", async () => {
    const { hand, brought, released } = emptyHand();
    const deliveries = [
      ...hand.hold(brought("a", 10_000, 15_000), "t"),
      ...hand.hold(brought("b", 10_000, 15_000), "u"),
    ];
    await deliveries[0]?.release();
    hand.release(deliveries);
    void hand.handBack(brought("c", 10_000, 15_000), "v");
    await hand.settled();
    expect(released.sort()).toEqual(["a", "b", "c"]);
  });
});
