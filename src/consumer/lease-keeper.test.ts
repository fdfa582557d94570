import { describe, expect, it } from "vitest";
import { scriptedQueue } from "../../test/support/scripted-queue.js";
import type { Extension, Receipt } from "../engine.js";
import { PunctualError } from "../errors.js";
import { manualClock } from "../testing/manual-clock.js";
import { type KeptLease, LeaseKeeper } from "./lease-keeper.js";

interface TestLease extends KeptLease {
  state: string;
}

/** A keeper of leases of 30 s, on a store that extends all unless the test says otherwise. */
function keeperOf(extend?: (receipts: readonly Receipt[], lease: number, now: number) => Promise<Extension[]>) {
  const clock = manualClock(0);
  const calls: { at: number; ids: string[] }[] = [];
  const lost: { id: string; at: number; error: PunctualError }[] = [];
  const all = (receipts: readonly Receipt[], lease: number): Extension[] =>
    receipts.map(() => ({ outcome: "extended", leaseUntil: clock.now() + lease }));
  const queue = scriptedQueue(clock, {
    async extend(receipts, lease) {
      calls.push({ at: clock.now(), ids: receipts.map(({ id }) => id) });
      return extend === undefined ? all(receipts, lease) : extend(receipts, lease, clock.now());
    },
  });
  const keeper = new LeaseKeeper<TestLease>({
    queue,
    lease: 30_000,
    random: () => 0,
    onLost(lease, error) {
      lease.state = "lost";
      lost.push({ id: lease.id, at: clock.now(), error });
    },
  });
  const add = (id: string, leaseUntil = clock.now() + 30_000): TestLease => {
    const lease: TestLease = { id, token: "t", leaseUntil, state: "held" };
    keeper.add(lease);
    return lease;
  };
  return { clock, calls, lost, keeper, add };
}

describe("LeaseKeeper", () => {
  it("extends all leases in one call when a third of the first one is over, again and again", async () => {
    const { clock, calls, add, lost } = keeperOf();
    const a = add("a");
    await clock.advance("4s");
    add("b");
    await clock.advance("26s");
    expect(calls).toEqual([
      { at: 10_000, ids: ["a", "b"] },
      { at: 20_000, ids: ["a", "b"] },
      { at: 30_000, ids: ["a", "b"] },
    ]);
    expect([a.leaseUntil, lost]).toEqual([60_000, []]);
  });

  it("extends nothing that is settled or removed, and stands still when nothing is held", async () => {
    const { clock, calls, add, keeper } = keeperOf();
    const settled = add("settled");
    keeper.remove(add("removed"));
    settled.state = "settled";
    await clock.advance("1m");
    expect([calls, keeper.size]).toEqual([[], 1]);
  });

  it("tells of a lease that the store says is lost, once, and keeps the others", async () => {
    const { clock, lost, add, calls } = keeperOf(async (receipts, lease, now) =>
      receipts.map(({ id }) =>
        id === "gone" ? { outcome: "lease-lost" } : { outcome: "extended", leaseUntil: now + lease },
      ),
    );
    add("gone");
    add("kept");
    await clock.advance("25s");
    expect(lost).toMatchObject([{ id: "gone", at: 10_000, error: { code: "lease-lost", details: { id: "gone" } } }]);
    expect(calls.map(({ ids }) => ids)).toEqual([["gone", "kept"], ["kept"]]);
  });

  it("repeats a call that failed with back-off, and gives a lease up when its end has passed without a confirmation", async () => {
    const failure = new PunctualError("not-sent", "No connection.");
    let isDown = true;
    const { clock, calls, lost, add } = keeperOf(async (receipts, lease, now) => {
      if (isDown) throw failure;
      return receipts.map(() => ({ outcome: "extended", leaseUntil: now + lease }));
    });
    add("first");
    await clock.advance("15s");
    add("second");
    expect(calls.slice(0, 6).map(({ at }) => at)).toEqual([10_000, 10_050, 10_150, 10_350, 10_750, 11_550]);
    await clock.advance("14999ms");
    expect(lost).toEqual([]);
    await clock.advance("1ms");
    expect(lost).toMatchObject([{ id: "first", at: 30_000, error: { code: "lease-lost", cause: failure } }]);
    isDown = false;
    await clock.advance("20s");
    expect(lost).toHaveLength(1);
    expect(calls.at(-1)?.ids).toEqual(["second"]);
  });

  it("gives a lease up at its end while a call hangs, and does not tell of it again when the call returns", async () => {
    let reply: (extensions: Extension[]) => void = () => {};
    const { clock, lost, add, calls } = keeperOf(() => new Promise((resolve) => (reply = resolve)));
    add("a");
    await clock.advance("30s");
    expect(lost.map(({ at }) => at)).toEqual([30_000]);
    expect(calls).toHaveLength(1);
    reply([{ outcome: "lease-lost" }]);
    await clock.advance("1m");
    expect(lost).toHaveLength(1);
  });

  it("does not take a lease for lost that was settled while it was being extended", async () => {
    let reply: (extensions: Extension[]) => void = () => {};
    const { clock, lost, add } = keeperOf(() => new Promise((resolve) => (reply = resolve)));
    const lease = add("a");
    await clock.advance("10s");
    lease.state = "settled";
    reply([{ outcome: "lease-lost" }]);
    await clock.advance("1m");
    expect(lost).toEqual([]);
  });

  it("extends a lease that comes with little time left at once", async () => {
    const { clock, calls, add } = keeperOf();
    add("late", 5_000);
    await clock.advance(0);
    expect(calls).toEqual([{ at: 0, ids: ["late"] }]);
  });

  it("leaves a lease alone that was made longer by hand, and looks after one that was made shorter", async () => {
    const { clock, calls, add, keeper, lost } = keeperOf();
    const long = add("long");
    keeper.extended(long, 600_000);
    const short = add("short");
    keeper.extended(short, 1_000);
    await clock.advance("15s");
    expect(calls.map(({ ids }) => ids)).toEqual([["short"], ["short"]]);
    expect([long.leaseUntil, lost]).toEqual([600_000, []]);
  });

  it("leaves the end of a lease alone that was extended by hand while the others were extended", async () => {
    let reply: (extensions: Extension[]) => void = () => {};
    const { clock, add, keeper, calls } = keeperOf(() => new Promise((resolve) => (reply = resolve)));
    const lease = add("a");
    await clock.advance("10s");
    keeper.extended(lease, 600_000);
    reply([{ outcome: "extended", leaseUntil: 40_000 }]);
    await clock.advance("5m");
    expect([lease.leaseUntil, calls.length]).toEqual([600_000, 1]);
  });

  it("forgets all when it is stopped", async () => {
    const { clock, calls, lost, add, keeper } = keeperOf();
    add("a");
    keeper.stop();
    keeper.stop();
    await clock.advance("1m");
    expect([calls, lost]).toEqual([[], []]);
  });

  it("extends nothing once it lets leases run, and tells of each when its end has passed", async () => {
    const { clock, calls, lost, keeper, add } = keeperOf();
    add("a");
    await clock.advance("9s");
    keeper.letRun();
    const b = add("b");
    keeper.extended(b, 50_000);
    await clock.advance("29999ms");
    expect([calls, lost.map(({ id, at }) => [id, at])]).toEqual([[], [["a", 30_000]]]);
    await clock.advance("1m");
    expect([calls, lost.map(({ id, at }) => [id, at])]).toEqual([
      [],
      [
        ["a", 30_000],
        ["b", 50_000],
      ],
    ]);
  });
});
