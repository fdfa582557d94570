import assert from "node:assert/strict";
import type { ConformanceCase } from "../conformance-case.js";
import { hour, ids, newMessage, onStage, second } from "../stage.js";

export const neverEarlyCases: readonly ConformanceCase[] = [
  {
    promise: 1,
    operation: "claim",
    name: "Never early: a claim takes nothing before the due time, and all that is due at it",
    run: onStage(async (stage) => {
      const { dueAt } = await stage.put("a", { due: { delay: 2 * second } });
      const early = await stage.take();
      assert.ok(early.now < dueAt, "the claim came 2 s late, and shows nothing");
      assert.deepEqual(early.ids, []);
      assert.ok(early.nextAt <= dueAt, `the only consumer is told to come ${early.nextAt - dueAt} ms late`);
      await stage.harness.elapse(2 * second + 1);
      assert.deepEqual((await stage.take()).ids, ["a"]);
    }),
  },
  {
    promise: 1,
    operation: "claim",
    name: "Never early: due times with fractions of a ms are rounded up, and claims in a row keep each of them",
    run: onStage(async (stage) => {
      const start = await stage.now();
      const delays = ids(60).map((_, index) => 20 + index * 1.37);
      const results = await stage.queue.schedule(
        delays.map((delay, index) => newMessage(`m-${index}`, { due: { delay } })),
      );
      for (const [index, { dueAt }] of results.entries()) {
        assert.ok(Number.isInteger(dueAt), `${dueAt} is no whole ms`);
        assert.ok(dueAt >= start + (delays[index] ?? 0), `due ${dueAt} is before ${start} + ${delays[index]}`);
      }
      let taken = 0;
      const takenAll = async () => {
        // take() itself refuses a message that is not due by the time of the claim.
        taken += (await stage.take()).ids.length;
        return taken === delays.length;
      };
      await stage.harness.until(takenAll, "all messages are claimed", 2_000);
    }),
  },
  ...(
    [
      ["retry", "retried"],
      ["release", "released"],
    ] as const
  ).map(([operation, done]): ConformanceCase => ({
    promise: 1,
    operation,
    name: `Never early: a message that is ${done} with a delay stays away until the delay is over`,
    run: onStage(async (stage) => {
      await stage.put("a");
      const { receipts, now } = await stage.take();
      await stage.queue[operation](receipts.map((receipt) => ({ ...receipt, delay: 2 * second })));
      assert.deepEqual((await stage.take()).ids, []);
      await stage.harness.elapse(2 * second + 20);
      const [message] = (await stage.take()).messages;
      assert.ok(message !== undefined && message.dueAt >= now + 2 * second);
    }),
  })),
  {
    promise: 1,
    operation: "reschedule",
    name: "Never early: a message that is rescheduled to later is not claimed at its old due time",
    run: onStage(async (stage) => {
      await stage.put("a", { due: { delay: 100 } });
      assert.deepEqual(await stage.queue.reschedule([{ id: "a", due: { delay: hour } }]), ["rescheduled"]);
      await stage.harness.elapse(150);
      assert.deepEqual((await stage.take()).ids, []);
    }),
  },
];
