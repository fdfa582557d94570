import assert from "node:assert/strict";
import { Gate } from "../../../consumer/gate.js";
import { binaryCodec } from "../../../codec.js";
import { Queue } from "../../../queue.js";
import type { ConformanceCase } from "../conformance-case.js";
import { interposed } from "../interposed-engine.js";
import { Recorder, textQueue } from "../recorder.js";
import { hour, ids, newMessage, onStage, second, shuffled } from "../stage.js";

export const consumeCases: readonly ConformanceCase[] = [
  {
    promise: 1,
    operation: "consume",
    name: "Never early: with two processes no handler starts before the due time, and lateness is never negative",
    run: onStage(async (stage) => {
      const recorder = new Recorder(stage);
      await recorder.consumers(2, { concurrency: 20 });
      const all = shuffled(ids(150));
      await stage.queue.schedule(all.map((id, index) => newMessage(id, { due: { delay: index * 5.3 } })));
      await recorder.started(all.length, 8 * second);
      for (const { id, at, dueAt, lateness } of recorder.starts) {
        assert.ok(at >= dueAt, `${id} started ${dueAt - at} ms early`);
        assert.ok(lateness >= 0, `${id} has a lateness of ${lateness}`);
      }
      assert.equal(new Set(recorder.ids).size, all.length);
    }),
  },
  {
    promise: 1,
    operation: "consume",
    name: "Never early: delays of 2^31 and 2^32 + 5,000 ms and of 10 years start nothing, and keep no consumer busy",
    run: onStage(async (stage) => {
      const recorder = new Recorder(stage);
      let claims = 0;
      const engine = interposed(stage.harness.engine, {
        around(operation, call) {
          if (operation === "claim") claims++;
          return call();
        },
      });
      for (const delay of [2 ** 31, 2 ** 32 + 5_000, 10 * 365 * 24 * hour])
        await stage.put(`${delay}`, { due: { delay } });
      recorder.consume({ engine });
      await stage.harness.until(() => claims > 0, "it claims", 10 * second);
      await stage.harness.elapse(second);
      assert.deepEqual(recorder.ids, []);
      assert.ok(claims <= 3, `${claims} claims in one second`);
    }),
  },
  {
    promise: 2,
    operation: "consume",
    name: "At least once: of 400 messages each is delivered until it is acknowledged, some after failing, none after that",
    run: onStage(async (stage) => {
      const recorder = new Recorder(stage);
      const all = ids(400);
      const work = ({ attempt, id }: { attempt: number; id: string }) => {
        if (attempt === 1 && id.endsWith("7")) throw new Error("the first time");
      };
      const { engine, other } = stage.harness;
      for (const one of [engine, other]) recorder.consume({ engine: one, work, retry: { backoff: () => 10 } });
      await textQueue(stage).scheduleMany(all.map((id, index) => ({ payload: id, id, delay: index % 50 })));
      const empty = async () => {
        const { scheduled, due, leased, dead } = await stage.queue.counts();
        return scheduled + due + leased + dead === 0;
      };
      // Not every engine can count what another process has under a lease.
      await recorder.started(all.length + 40, 10 * second);
      await stage.harness.until(empty, "all are acknowledged", 10 * second);
      for (const id of all) assert.equal(recorder.count(id), id.endsWith("7") ? 2 : 1, id);
    }),
  },
  {
    promise: 3,
    operation: "consume",
    name: "One lease at a time: a handler that runs longer than its lease keeps it, and nobody else gets the message",
    run: onStage(async (stage) => {
      const recorder = new Recorder(stage);
      const gate = new Gate();
      let aborted = false;
      const { engine, other } = stage.harness;
      const work = async (delivery: { signal: AbortSignal }) => {
        delivery.signal.addEventListener("abort", () => (aborted = true));
        await gate.opened;
      };
      let acknowledged = 0;
      for (const one of [engine, other]) {
        const consumer = recorder.consume({ engine: one, work, lease: "4s" });
        consumer.on("acknowledged", () => acknowledged++);
      }
      await stage.put("a");
      await recorder.started(1);
      await stage.harness.elapse(9 * second);
      gate.open();
      await stage.harness.until(() => acknowledged > 0, "it is acknowledged", 5 * second);
      assert.equal(recorder.count("a"), 1);
      assert.equal(aborted, false);
    }),
  },
  {
    promise: 3,
    operation: "consume",
    name: "One lease at a time: a handler that could not keep its lease is told so, and what it settles changes nothing",
    run: onStage(async (stage) => {
      const first = new Recorder(stage);
      const gate = new Gate();
      const reasons: unknown[] = [];
      let lost = 0;
      // Its extensions never arrive, as when the process hangs.
      const engine = interposed(stage.harness.engine, {
        around: (operation, call) => (operation === "extend" ? new Promise<never>(() => {}) : call()),
      });
      await stage.put("a");
      const consumer = first.consume({
        engine,
        lease: "1s",
        // Full, so that it does not claim the message again itself.
        concurrency: 1,
        async work(delivery) {
          delivery.signal.addEventListener("abort", () => reasons.push(delivery.signal.reason));
          await gate.opened;
        },
      });
      consumer.on("leaseLost", () => lost++);
      await first.started(1);
      const next = new Recorder(stage);
      const held = new Gate();
      const other = next.consume({ engine: stage.harness.other, work: () => held.opened });
      let acknowledged = 0;
      other.on("acknowledged", () => acknowledged++);
      await next.started(1, 10 * second);
      assert.equal(next.starts[0]?.attempt, 2);
      await stage.harness.until(() => reasons.length > 0, "the handler is told", 5 * second);
      const [reason] = reasons;
      assert.ok(reason instanceof Error && "code" in reason && reason.code === "lease-lost");
      gate.open();
      await stage.harness.elapse(50);
      assert.equal(lost, 1);
      held.open();
      await stage.harness.until(() => acknowledged > 0, "the second delivery is untouched", 5 * second);
    }),
  },
  {
    promise: 7,
    operation: "consume",
    name: "Order: a consumer with a concurrency of 1 handles equal due times in the order of scheduling",
    run: onStage(async (stage) => {
      const recorder = new Recorder(stage);
      const at = Math.ceil(await stage.now()) + 300;
      const all = shuffled(ids(500));
      await textQueue(stage).scheduleMany(all.map((id) => ({ payload: id, id, at })));
      recorder.consume({ concurrency: 1 });
      let inOrder = 0;
      const handled = () => {
        for (const { id } of recorder.starts.slice(inOrder)) assert.equal(id, all[inOrder++]);
        return inOrder === all.length;
      };
      // Each is claimed when the one before is settled, which takes a busy machine its time.
      await stage.harness.until(handled, "all are handled", 40 * second);
    }),
  },
  {
    promise: 8,
    operation: "consume",
    name: "Cancel tells the truth: with consumers at work each message is either cancelled or handled, never both",
    run: onStage(async (stage) => {
      const recorder = new Recorder(stage);
      const all = ids(300);
      const queue = textQueue(stage);
      await queue.scheduleMany(all.map((id, index) => ({ payload: id, id, delay: index })));
      recorder.consume({ engine: stage.harness.other });
      const cancelled: string[] = [];
      for (const id of shuffled(all).slice(0, 200)) if ((await queue.cancel(id)) === "cancelled") cancelled.push(id);
      await recorder.started(all.length - cancelled.length, 8 * second);
      await stage.harness.elapse(50);
      assert.equal(recorder.ids.length, all.length - cancelled.length, "what is not cancelled is handled once");
      assert.deepEqual(
        recorder.ids.filter((id) => cancelled.includes(id)),
        [],
      );
    }),
  },
  {
    promise: 14,
    operation: "consume",
    name: "Pause is a pause: no handler starts after pause has resolved, and all that came due starts once after resume",
    run: onStage(async (stage) => {
      const recorder = new Recorder(stage);
      await recorder.consumers(2);
      const queue = textQueue(stage);
      const all = ids(100);
      await queue.scheduleMany(all.map((id, index) => ({ payload: id, id, delay: index * 6 })));
      await recorder.started(10);
      await queue.pause();
      // What was claimed before the pause may still be on its way to its handler, on a busy machine for a while.
      await stage.harness.elapse(second / 2);
      const before = recorder.ids.length;
      await stage.harness.elapse(second);
      assert.equal(recorder.ids.length, before);
      await queue.resume();
      await recorder.started(all.length);
      await stage.harness.elapse(50);
      assert.deepEqual(recorder.ids.toSorted(), all.toSorted());
    }),
  },
  {
    promise: 9,
    operation: "consume",
    name: "Bounded server work: 300 payloads of 1 MiB that are due at once are all delivered, whole",
    alone: true,
    run: onStage(async (stage) => {
      const queue = new Queue(stage.name, { engine: stage.harness.engine, codec: binaryCodec() });
      const size = 2 ** 20;
      for (let from = 0; from < 300; from += 20) {
        const batch = ids(20).map((_, index) => ({
          payload: new Uint8Array(size).fill((from + index) % 256),
          id: `${from + index}`,
          delay: 0,
        }));
        await queue.scheduleMany(batch);
      }
      const seen = new Set<string>();
      stage.keep(
        queue.consume(({ id, payload }) => {
          // One that is not whole is not counted as seen.
          if (Buffer.alloc(size, Number(id) % 256).equals(payload)) seen.add(id);
        }),
      );
      const empty = async () => {
        const { due, leased } = await stage.queue.counts();
        return seen.size === 300 && due + leased === 0;
      };
      await stage.harness.until(empty, "all are delivered and acknowledged", 40 * second);
      assert.equal((await stage.queue.counts()).dead, 0);
    }),
  },
];
