import assert from "node:assert/strict";
import type { ConformanceCase } from "../conformance-case.js";
import type { Stage } from "../stage.js";
import { hour, ids, newMessage, onStage } from "../stage.js";

const tenYears = 10 * 365 * 24 * hour;

/** Schedules with a delay, and holds the due time against the time before and after. */
async function expectDelay(stage: Stage, delay: number): Promise<void> {
  const id = `delay ${delay}`;
  const before = await stage.now();
  const { dueAt, outcome } = await stage.put(id, { due: { delay } });
  const after = await stage.now();
  assert.equal(outcome, "scheduled");
  assert.ok(Number.isInteger(dueAt), `delay ${delay}: ${dueAt} is no whole ms`);
  assert.ok(dueAt >= before + delay, `delay ${delay}: due ${before + delay - dueAt} ms too soon`);
  assert.ok(dueAt <= Math.ceil(after + delay), `delay ${delay}: due ${dueAt - after - delay} ms too late`);
}

async function expectNow(stage: Stage, due: { delay: number } | { at: number }): Promise<void> {
  const id = JSON.stringify(due);
  const before = Math.floor(await stage.now());
  const { dueAt } = await stage.put(id, { due });
  const after = await stage.now();
  assert.ok(dueAt >= before && dueAt <= after, `${id} means now (${before} to ${after}), not ${dueAt}`);
  assert.deepEqual((await stage.take()).ids, [id], `${id} is due at once`);
}

export const dueTimeCases: readonly ConformanceCase[] = [
  {
    operation: "schedule",
    name: "A delay of 0, -1 or -1e15 ms means now, and so does a time in the past",
    run: onStage(async (stage) => {
      await expectNow(stage, { delay: 0 });
      await expectNow(stage, { delay: -1 });
      await expectNow(stage, { delay: -1e15 });
      await expectNow(stage, { at: (await stage.now()) - 10 });
      await expectNow(stage, { at: 1 });
      await expectNow(stage, { at: -8.64e15 });
    }),
  },
  {
    promise: 1,
    operation: "schedule",
    name: "Never early: a delay of 0.4 ms is rounded up to a whole ms",
    run: onStage((stage) => expectDelay(stage, 0.4)),
  },
  {
    promise: 1,
    operation: "schedule",
    name: "Never early: delays of 2^31 and 2^32 + 5,000 ms and of 10 years are kept to the ms",
    run: onStage(async (stage) => {
      await expectDelay(stage, 2 ** 31 - 1);
      await expectDelay(stage, 2 ** 31);
      await expectDelay(stage, 2 ** 32 + 5_000);
      await expectDelay(stage, tenYears);
      const claim = await stage.take();
      assert.deepEqual(claim.ids, []);
      assert.ok(claim.nextAt > claim.now, "a far message is no reason to claim again at once");
    }),
  },
  {
    operation: "schedule",
    name: "A time to be due is kept to the ms up to the latest of Date, 8.64e15, and a longer delay ends there",
    run: onStage(async (stage) => {
      const soon = Math.floor(await stage.now()) + hour;
      assert.equal((await stage.put("soon", { due: { at: soon } })).dueAt, soon);
      assert.equal((await stage.put("fraction", { due: { at: soon + 0.25 } })).dueAt, soon + 1);
      assert.equal((await stage.put("latest", { due: { at: 8.64e15 } })).dueAt, 8.64e15);
      assert.equal((await stage.put("beyond", { due: { delay: 8.64e15 } })).dueAt, 8.64e15);
      assert.deepEqual((await stage.take()).ids, []);
    }),
  },
  {
    operation: "get",
    name: "A due time is read as schedule answered it, be it near, far or the latest of Date",
    run: onStage(async (stage) => {
      const soon = Math.floor(await stage.now()) + hour;
      const dues = [
        ...[0.4, 2 ** 31 - 1, 2 ** 31, 2 ** 32 + 5_000, tenYears, 8.64e15].map((delay) => ({ delay })),
        ...[soon, soon + 0.25, 8.64e15].map((at) => ({ at })),
      ];
      const answers = await stage.queue.schedule(dues.map((due, index) => newMessage(`m-${index}`, { due })));
      const stored = await stage.queue.get(ids(dues.length));
      assert.deepEqual(
        stored.map((message) => message?.dueAt),
        answers.map(({ dueAt }) => dueAt),
      );
    }),
  },
  {
    operation: "reschedule",
    name: "Rescheduling takes the same due times as scheduling: past is now, fractions go up, the latest is 8.64e15",
    run: onStage(async (stage) => {
      await stage.put("a", { due: { delay: hour } });
      const due = async (change: { delay: number } | { at: number }) => {
        assert.deepEqual(await stage.queue.reschedule([{ id: "a", due: change }]), ["rescheduled"]);
        return (await stage.read("a")).dueAt;
      };
      const soon = Math.floor(await stage.now()) + hour;
      assert.equal(await due({ at: soon + 0.25 }), soon + 1);
      assert.equal(await due({ at: 8.64e15 }), 8.64e15);
      assert.equal(await due({ delay: 8.64e15 }), 8.64e15);
      const before = await stage.now();
      const later = await due({ delay: 2 ** 32 + 5_000.5 });
      const after = await stage.now();
      assert.ok(later >= before + 2 ** 32 + 5_000.5 && later <= Math.ceil(after + 2 ** 32 + 5_000.5));
      const now = await due({ delay: -1e15 });
      assert.ok(now >= Math.floor(after) && now <= (await stage.now()));
      assert.deepEqual((await stage.take()).ids, ["a"]);
    }),
  },
  {
    operation: "schedule",
    name: "An empty batch is answered with nothing by every operation",
    run: onStage(async ({ queue }) => {
      assert.deepEqual(await queue.schedule([]), []);
      assert.deepEqual(await queue.acknowledge([]), []);
      assert.deepEqual(await queue.retry([]), []);
      assert.deepEqual(await queue.release([]), []);
      assert.deepEqual(await queue.bury([]), []);
      assert.deepEqual(await queue.extend([], 1_000), []);
      assert.deepEqual(await queue.cancel([]), []);
      assert.deepEqual(await queue.reschedule([]), []);
      assert.deepEqual(await queue.get([]), []);
    }),
  },
];
