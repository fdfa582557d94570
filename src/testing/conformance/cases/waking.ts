import assert from "node:assert/strict";
import { Gate } from "../../../consumer/gate.js";
import { PunctualError } from "../../../errors.js";
import type { ConformanceCase } from "../conformance-case.js";
import { Recorder, textQueue } from "../recorder.js";
import type { Stage } from "../stage.js";
import { hour, newMessage, onStage, second } from "../stage.js";

/** Far less than the 5 s after which a consumer looks by itself: what is delivered within it was woken for. */
const woken = 2 * second;

/** Consumers that sleep until a message that is due in an hour. */
async function asleep(stage: Stage, count: number): Promise<Recorder> {
  const recorder = new Recorder(stage);
  await stage.put("far", { due: { delay: hour } });
  await recorder.consumers(count);
  await stage.harness.elapse(100);
  assert.deepEqual(recorder.ids, []);
  return recorder;
}

async function expectOnly(stage: Stage, recorder: Recorder, id: string): Promise<void> {
  await recorder.started(1, woken);
  await stage.harness.elapse(100);
  assert.deepEqual(recorder.ids, [id], "it is delivered, once, and nothing else");
}

const wakings = [1, 10, 50].flatMap((count): ConformanceCase[] => {
  const who = count === 1 ? "a consumer that sleeps" : `${count} consumers that sleep`;
  return [
    {
      operation: "watch",
      name: `Until a far message ${who} wake${count === 1 ? "s" : ""} for a nearer one that is scheduled later`,
      run: onStage(async (stage) => {
        const recorder = await asleep(stage, count);
        await stage.put("near", { due: { delay: 200 } });
        await expectOnly(stage, recorder, "near");
      }),
    },
    {
      operation: "watch",
      name: `Until a far message ${who} wake${count === 1 ? "s" : ""} for it when it is rescheduled to earlier`,
      run: onStage(async (stage) => {
        const recorder = await asleep(stage, count);
        assert.equal(await textQueue(stage).reschedule("far", { delay: "200ms" }), "rescheduled");
        await expectOnly(stage, recorder, "far");
      }),
    },
    {
      operation: "watch",
      name: `Until a far message ${who} wake${count === 1 ? "s" : ""} when a pause ends in which another came due`,
      run: onStage(async (stage) => {
        await stage.queue.pause();
        await stage.put("near");
        const recorder = await asleep(stage, count);
        await stage.queue.resume();
        await expectOnly(stage, recorder, "near");
      }),
    },
  ];
});

export const wakingCases: readonly ConformanceCase[] = [
  ...wakings,
  {
    operation: "consume",
    name: "The first consumer of a queue that already holds messages delivers those that are due, and the others in time",
    run: onStage(async (stage) => {
      await stage.queue.schedule([
        newMessage("due"),
        newMessage("soon", { due: { delay: 400 } }),
        newMessage("far", { due: { delay: hour } }),
      ]);
      await stage.harness.elapse(50);
      const recorder = new Recorder(stage);
      recorder.consume();
      await recorder.started(2, woken);
      assert.deepEqual(recorder.ids, ["due", "soon"]);
    }),
  },
  {
    operation: "watch",
    name: "A message that comes due at once, is retried or is released wakes a consumer that sleeps",
    run: onStage(async (stage) => {
      await stage.put("released");
      await stage.put("retried");
      const { receipts } = await stage.take({ from: stage.otherQueue });
      const [released, retried] = ["released", "retried"].map((id) => receipts.find((receipt) => receipt.id === id));
      assert.ok(released !== undefined && retried !== undefined);
      const recorder = await asleep(stage, 1);
      await stage.put("new");
      await recorder.started(1, woken);
      await stage.otherQueue.release([released]);
      await recorder.started(2, woken);
      await stage.otherQueue.retry([{ ...retried, delay: 50 }]);
      await recorder.started(3, woken);
      assert.deepEqual(recorder.ids, ["new", "released", "retried"]);
    }),
  },
  {
    operation: "watch",
    name: "When a consumer is full another one that sleeps is woken for what is left, and all of them work",
    run: onStage(async (stage) => {
      const recorder = new Recorder(stage);
      const gate = new Gate();
      const { engine, other } = stage.harness;
      const consumers = [engine, other, engine].map((one) =>
        recorder.consume({ engine: one, concurrency: 1, work: () => gate.opened }),
      );
      const running = () => consumers.every((consumer) => consumer.health().state === "running");
      await stage.harness.until(running, "all are running", 3 * second);
      await stage.queue.schedule(["a", "b", "c", "d"].map((id) => newMessage(id)));
      await recorder.started(3, woken);
      assert.equal(recorder.running, 3);
      gate.open();
      await recorder.started(4, woken);
    }),
  },
  {
    operation: "watch",
    name: "When consumers close one after the other those that stay are woken as before",
    run: onStage(async (stage) => {
      const recorder = new Recorder(stage);
      const consumers = await recorder.consumers(4);
      for (const [index, consumer] of consumers.entries()) {
        await stage.put(`m-${index}`, { due: { delay: 100 } });
        await recorder.started(index + 1, woken);
        await stage.passing(consumer.close(), "a consumer is closed");
      }
      await stage.put("late");
      await stage.harness.elapse(200);
      assert.deepEqual(recorder.ids, ["m-0", "m-1", "m-2", "m-3"]);
      assert.deepEqual((await stage.take()).ids, ["late"]);
    }),
  },
  {
    operation: "watch",
    name: "A watch is told of a message that is due earlier than its claim said, and of nothing after it has ended",
    run: onStage(async (stage) => {
      const woke: number[] = [];
      const watch = await stage.queue.watch("consumer-1", {
        wake: (at) => woke.push(at),
        postpone() {},
        interrupted() {},
        recovered() {},
      });
      await stage.take();
      const { dueAt } = await stage.put("a", { due: { delay: 500 } });
      await stage.harness.until(() => woke.length > 0, "the watch is told", second);
      assert.ok(woke.every((at) => at <= dueAt));
      await watch[Symbol.asyncDispose]();
      const before = woke.length;
      await stage.put("b");
      await stage.harness.elapse(100);
      assert.equal(woke.length, before);
    }),
  },
  {
    operation: "watch",
    name: "A watch that fails tells nothing after that",
    run: onStage(async (stage) => {
      const { engine, other } = stage.harness;
      /** Begins a watch; gives what it has told, and how much of that before it failed, if it did. */
      const begin = (consumer: string) => {
        const told: string[] = [];
        const failed = stage.queue
          .watch(consumer, {
            wake: () => void told.push("wake"),
            postpone: () => void told.push("postpone"),
            interrupted: ({ code }) => void told.push(`interrupted, ${code}`),
            recovered: () => void told.push("recovered"),
          })
          .then(
            () => undefined,
            (error: unknown) => {
              assert.ok(error instanceof PunctualError, `it failed with ${String(error)}`);
              return { code: error.code, count: told.length };
            },
          );
        // It may fail before it is waited for, below.
        failed.catch(() => {});
        return { told, failed };
      };
      // May begin before it is too late.
      const early = begin("early");
      const closing = engine.close();
      const middle = begin("middle");
      await stage.passing(closing, "the engine is closed");
      const late = begin("late");
      const failures = await stage.passing(
        Promise.all([early, middle, late].map(({ failed }) => failed)),
        "all watches have begun or failed",
      );
      assert.equal(failures[2]?.code, "closed", "no watch begins on a closed engine");
      if (other !== engine) await stage.otherQueue.schedule([newMessage("a")]);
      await stage.harness.elapse(200);
      for (const [place, { told }] of [early, middle, late].entries()) {
        const failure = failures[place];
        if (failure !== undefined) assert.deepEqual(told.slice(failure.count), [], `told after ${failure.code}`);
      }
    }),
  },
];
