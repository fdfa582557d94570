import assert from "node:assert/strict";
import type { ConformanceCase } from "../conformance-case.js";
import { stoppable } from "../interposed-engine.js";
import { Recorder } from "../recorder.js";
import { onStage, second } from "../stage.js";

export const redeliveryCases: readonly ConformanceCase[] = [
  {
    promise: 5,
    operation: "claim",
    name: "Bounded redelivery: what was held is due again as of the end of its lease, with one attempt used",
    run: onStage(async (stage) => {
      await stage.put("a");
      const held = await stage.take({ lease: second });
      const waiting = await stage.take({ from: stage.otherQueue });
      assert.deepEqual(waiting.ids, []);
      assert.ok(waiting.nextAt <= held.leaseUntil, "who waits is told to come when the lease ends");
      await stage.harness.elapse(second + 20);
      const { messages } = await stage.take({ from: stage.otherQueue });
      assert.deepEqual(
        messages.map((message) => [message.id, message.attempt, message.dueAt]),
        [["a", 2, held.leaseUntil]],
      );
    }),
  },
  {
    promise: 5,
    operation: "consume",
    name: "Bounded redelivery: what a killed process held with a lease of 1 s is delivered by an idle one within 2 s",
    alone: true,
    run: onStage(async (stage) => {
      const killed = stoppable(stage.harness.other);
      const first = new Recorder(stage);
      const next = new Recorder(stage);
      // The first to wait is the first to be woken; when the other one was, the next message goes round again.
      const dying = first.consume({ engine: killed.engine, lease: "1s", work: () => new Promise(() => {}) });
      await stage.harness.until(() => dying.health().state === "running", "the first is running", 3 * second);
      const idle = next.consume();
      await stage.harness.until(() => idle.health().state === "running", "the second is running", 3 * second);
      for (let round = 0; first.starts.length === 0; round++) {
        assert.ok(round < 50, "the first consumer never gets a message");
        await stage.put(`m-${round}`);
        const either = () => first.starts.length > 0 || next.starts.length > round;
        await stage.harness.until(either, "one of them got it", 2 * second);
      }
      killed.stop();
      const id = first.ids[0] ?? "";
      await stage.harness.until(() => next.count(id) > 0, "the idle consumer delivers it", 2 * second);
      const again = next.starts.find((start) => start.id === id);
      assert.equal(again?.attempt, 2);
    }),
  },
  {
    promise: 5,
    operation: "consume",
    name: "Bounded redelivery: a process that starts after another was killed delivers what that one held",
    run: onStage(async (stage) => {
      await stage.put("a");
      await stage.take({ lease: second, consumer: "killed", from: stage.otherQueue });
      const recorder = new Recorder(stage);
      recorder.consume();
      await recorder.started(1, 2 * second);
      assert.equal(recorder.starts[0]?.attempt, 2);
    }),
  },
];
