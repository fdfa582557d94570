import assert from "node:assert/strict";
import type { ConformanceCase } from "../conformance-case.js";
import { Recorder, textQueue } from "../recorder.js";
import type { Stage } from "../stage.js";
import { hour, onStage, second } from "../stage.js";

/** Has the clock of this process go wrong by `offset` ms while `work` runs. */
async function withClientClock(offset: number, work: () => Promise<void>): Promise<void> {
  const right = Date.now;
  const rightNow = right.bind(Date);
  Date.now = () => rightNow() + offset;
  try {
    await work();
  } finally {
    Date.now = right;
  }
}

async function expectInTime(stage: Stage, recorder: Recorder, id: string): Promise<void> {
  const before = await stage.now();
  const { dueAt } = await textQueue(stage).schedule("x", { id, delay: 300 });
  const after = await stage.now();
  assert.ok(dueAt.getTime() >= Math.floor(before) + 300 && dueAt.getTime() <= Math.ceil(after) + 300);
  await stage.harness.until(() => recorder.count(id) > 0, `${id} is delivered`, 2 * second);
  const start = recorder.starts.find((one) => one.id === id);
  assert.ok(start !== undefined && start.at >= dueAt.getTime(), "not early");
  assert.ok(start.lateness >= 0 && start.lateness < second, `lateness ${start.lateness}`);
}

const offsets: Readonly<Record<string, number>> = { "an hour behind": -hour, "an hour ahead": hour };

export const oneClockCases: readonly ConformanceCase[] = Object.entries(offsets).flatMap(
  ([what, offset]): ConformanceCase[] => [
    {
      promise: 12,
      operation: "consume",
      name: `One clock: a process whose clock is ${what} schedules and delivers by the clock of the engine`,
      alone: true,
      run: (harness) =>
        withClientClock(offset, () =>
          onStage(async (stage) => {
            const recorder = new Recorder(stage);
            await recorder.consumers(2);
            await expectInTime(stage, recorder, "a");
            await stage.put("far", { due: { delay: hour / 2 } });
            await stage.put("held", { due: { delay: 20 } });
            await stage.harness.until(() => recorder.count("held") > 0, "it is delivered", 2 * second);
            await stage.harness.elapse(100);
            assert.deepEqual(recorder.ids, ["a", "held"]);
          })(harness),
        ),
    },
    {
      promise: 12,
      operation: "consume",
      name: `One clock: a process whose clock is ${what} schedules, delivers and reads states by the clock of the engine`,
      alone: true,
      run: (harness) =>
        withClientClock(offset, () =>
          onStage(async (stage) => {
            const recorder = new Recorder(stage);
            await recorder.consumers(2);
            await expectInTime(stage, recorder, "a");
            await stage.queue.pause();
            await stage.put("due");
            await stage.put("far", { due: { delay: hour / 2 } });
            assert.equal((await stage.read("due")).state, "due");
            assert.equal((await stage.read("far")).state, "scheduled");
            const { scheduled, due } = await stage.queue.counts();
            assert.deepEqual([scheduled, due], [1, 1]);
          })(harness),
        ),
    },
    {
      promise: 12,
      operation: "consume",
      name: `One clock: consumers keep time and leases when the clock of their process steps to ${what}`,
      alone: true,
      run: onStage(async (stage) => {
        const recorder = new Recorder(stage);
        await recorder.consumers(2, { lease: "1s" });
        await expectInTime(stage, recorder, "before");
        await withClientClock(offset, async () => {
          await expectInTime(stage, recorder, "while");
          await stage.put("held");
          const recorded = () => recorder.count("held") > 0;
          await stage.harness.until(recorded, "it is delivered", 2 * second);
        });
        await expectInTime(stage, recorder, "after");
        assert.deepEqual(recorder.ids, ["before", "while", "held", "after"]);
      }),
    },
    {
      promise: 12,
      operation: "claim",
      name: `One clock: a claimer whose clock is ${what} takes nothing early and no lease before its end`,
      alone: true,
      run: (harness) =>
        withClientClock(offset, () =>
          onStage(async (stage) => {
            await stage.put("far", { due: { delay: hour / 2 } });
            await stage.put("a");
            assert.deepEqual((await stage.take({ lease: second })).ids, ["a"]);
            assert.deepEqual((await stage.take({ from: stage.otherQueue })).ids, []);
            await stage.harness.elapse(second + 20);
            assert.deepEqual((await stage.take({ from: stage.otherQueue })).ids, ["a"]);
          })(harness),
        ),
    },
  ],
);
