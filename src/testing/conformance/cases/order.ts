import assert from "node:assert/strict";
import type { ConformanceCase } from "../conformance-case.js";
import { textQueue } from "../recorder.js";
import type { Stage } from "../stage.js";
import { hour, ids, newMessage, onStage, second, shuffled } from "../stage.js";

/** Claims all that is due, acknowledging it on the way, and fails with the first claim that is out of order. */
async function expectOrder(stage: Stage, all: readonly string[]): Promise<void> {
  for (let taken = 0; taken < all.length;) {
    const { ids: next, receipts } = await stage.take({ limit: 1_000 });
    assert.ok(next.length > 0, `nothing more after ${taken}`);
    assert.deepEqual(next, all.slice(taken, taken + next.length));
    await stage.queue.acknowledge(receipts);
    taken += next.length;
  }
}

/** A time that is due soon, and still to come when some calls have been made, also while other cases run. */
async function soon(stage: Stage): Promise<number> {
  return Math.ceil(await stage.now()) + 5 * second;
}

/**
 * Has `schedule` schedule all for a time to come and waits for that time. Where it came while scheduling, as it may on a busy
 * machine, the messages are done away with and scheduled for one that is farther off. Gives the time at which all were due.
 */
async function inTime(stage: Stage, schedule: (at: number) => Promise<unknown>): Promise<number> {
  for (let lead = 5 * second; ; lead *= 2) {
    const at = Math.ceil(await stage.now()) + lead;
    await schedule(at);
    const isInTime = (await stage.now()) < at;
    assert.ok(isInTime || lead < 20 * second, "scheduling took too long to show anything");
    if (isInTime) {
      await stage.reach(at);
      return at;
    }
    await stage.reach(at + second);
    for (const claim of await stage.takeAll(Infinity)) await stage.queue.acknowledge(claim.receipts);
  }
}

/** Waits until `at` has come; it must not have come yet. */
async function comeDue(stage: Stage, at: number): Promise<void> {
  assert.ok((await stage.now()) < at, "scheduling took too long to show anything");
  await stage.reach(at);
}

export const orderCases: readonly ConformanceCase[] = [
  {
    promise: 7,
    operation: "claim",
    name: "Order: messages are claimed in the order of their due times, however they were scheduled",
    run: onStage(async (stage) => {
      const all = ids(200);
      await inTime(stage, async (start) => {
        const messages = all.map((id, index) => newMessage(id, { due: { at: start + index } }));
        await Promise.all(shuffled(messages).map((message) => stage.queue.schedule([message])));
      });
      await stage.harness.elapse(200);
      await expectOrder(stage, all);
    }),
  },
  {
    promise: 7,
    operation: "claim",
    name: "Order: equal due times are claimed in the order in which two producers scheduled them",
    run: onStage(async (stage) => {
      const all = shuffled(ids(60));
      await inTime(stage, async (at) => {
        for (const [index, id] of all.entries()) {
          const queue = index % 3 === 0 ? stage.otherQueue : stage.queue;
          await queue.schedule([newMessage(id, { due: { at } })]);
        }
      });
      await expectOrder(stage, all);
    }),
  },
  {
    promise: 7,
    operation: "claim",
    name: "Order: 20,000 messages with random ids that are due in the same ms keep the order of scheduling",
    run: onStage(async (stage) => {
      const all = shuffled(ids(20_000));
      let times = new Set<number>();
      const due = await inTime(stage, async (at) => {
        times = new Set();
        for (let from = 0; from < all.length; from += 5_000) {
          const batch = all.slice(from, from + 5_000);
          const results = await stage.queue.schedule(batch.map((id) => newMessage(id, { due: { at } })));
          for (const { dueAt } of results) times.add(dueAt);
        }
      });
      assert.deepEqual([...times], [due], "all are due in the ms that was asked for");
      await expectOrder(stage, all);
    }),
  },
  {
    promise: 7,
    operation: "schedule",
    name: "Order: messages that a program schedules one by one, without waiting, keep that order, however many",
    run: onStage(async (stage) => {
      const all = shuffled(ids(3_000));
      const queue = textQueue(stage);
      let times = new Set<number>();
      const due = await inTime(stage, async (at) => {
        const results = await Promise.all(all.map((id) => queue.schedule(id, { id, at })));
        times = new Set(results.map(({ dueAt }) => dueAt.getTime()));
      });
      assert.deepEqual([...times], [due], "all are due in the ms that was asked for");
      await expectOrder(stage, all);
    }),
  },
  {
    promise: 7,
    operation: "reschedule",
    name: "Order: a rescheduled message takes its place among equal due times as the one scheduled when it was",
    run: onStage(async (stage) => {
      const at = await soon(stage);
      await stage.put("a", { due: { delay: hour } });
      await stage.put("b", { due: { at } });
      await stage.put("c", { due: { delay: hour } });
      await stage.put("d", { due: { at } });
      await stage.queue.reschedule([{ id: "c", due: { at } }]);
      await stage.queue.reschedule([{ id: "a", due: { at } }]);
      await comeDue(stage, at);
      await expectOrder(stage, ["a", "b", "c", "d"]);
    }),
  },
  {
    promise: 7,
    operation: "retry",
    name: "Order: messages that are retried in one call keep the order in which they were scheduled",
    run: onStage(async (stage) => {
      const all = shuffled(ids(30));
      await stage.queue.schedule(all.map((id) => newMessage(id)));
      const { receipts } = await stage.take();
      await stage.queue.retry(shuffled(receipts).map((receipt) => ({ ...receipt, delay: 20 })));
      await stage.harness.elapse(40);
      const again = await stage.takeAll(all.length);
      const messages = again.flatMap((claim) => claim.messages);
      assert.equal(new Set(messages.map(({ dueAt }) => dueAt)).size, 1, "one call has one time");
      assert.deepEqual(
        messages.map(({ id }) => id),
        all,
      );
    }),
  },
  {
    promise: 7,
    operation: "schedule",
    name: "Order: a replaced message goes behind those that were scheduled for the same time before it",
    run: onStage(async (stage) => {
      const at = await soon(stage);
      for (const id of ["a", "b", "c"]) await stage.put(id, { due: { at } });
      const { outcome } = await stage.put("a", { due: { at }, onDuplicate: "replace" });
      assert.equal(outcome, "replaced");
      await comeDue(stage, at);
      await expectOrder(stage, ["b", "c", "a"]);
    }),
  },
  {
    promise: 7,
    operation: "claim",
    name: "Order: what is reclaimed is due as of the end of its lease, behind what was due before and before what came after",
    run: onStage(async (stage) => {
      await stage.put("reclaimed");
      const { leaseUntil } = await stage.take({ lease: second });
      await stage.put("before", { due: { at: leaseUntil - 10 } });
      await stage.put("after", { due: { at: leaseUntil + 10 } });
      await stage.harness.elapse(second + 40);
      const { messages } = await stage.take();
      assert.deepEqual(
        messages.map((message) => message.id),
        ["before", "reclaimed", "after"],
      );
      assert.equal(messages[1]?.dueAt, leaseUntil);
    }),
  },
];
