import assert from "node:assert/strict";
import type { ConformanceCase } from "../conformance-case.js";
import { counting } from "../interposed-engine.js";
import { Recorder } from "../recorder.js";
import type { Stage } from "../stage.js";
import { hour, newMessage, onStage, second } from "../stage.js";

const total = (calls: ReadonlyMap<string, number>) => [...calls.values()].reduce((sum, count) => sum + count, 0);

/**
 * The claims that consumers make for messages that come due one after the other: first those that were there before the
 * consumers, so that each could keep a timer for them, then those of which only a wake-up tells.
 */
async function claimsOf(stage: Stage, consumers: number, messages: number): Promise<number> {
  const recorder = new Recorder(stage);
  const { engine, calls } = counting(stage.harness.engine);
  const start = Math.ceil(await stage.now()) + 2 * second;
  const known = Array.from({ length: messages }, (_, index) => ({ at: start + index * 25 }));
  await stage.queue.schedule(known.map((due, index) => newMessage(`known-${index}`, { due })));
  for (let index = 0; index < consumers; index++) {
    const consumer = recorder.consume({ engine });
    await stage.harness.until(() => consumer.health().state === "running", "it is running", 3 * second);
  }
  calls.clear();
  await recorder.started(messages, 5 * second);
  for (let index = 0; index < messages; index++) {
    await stage.put(`new-${index}`, { due: { delay: 20 } });
    await recorder.started(messages + index + 1);
    await stage.harness.elapse(5);
  }
  return calls.get("claim") ?? 0;
}

export const idleCostCases: readonly ConformanceCase[] = [
  {
    promise: 15,
    operation: "consume",
    name: "Cheap when idle: a consumer that waits for a far message makes at most one call in 5 s",
    run: onStage(async (stage) => {
      const recorder = new Recorder(stage);
      for (const delay of [hour, 2 ** 31, 2 ** 33]) await stage.put(`due in ${delay}`, { due: { delay } });
      const { engine, calls } = counting(stage.harness.engine);
      const consumer = recorder.consume({ engine });
      await stage.harness.until(() => consumer.health().state === "running", "it is running", 3 * second);
      await stage.harness.elapse(100);
      calls.clear();
      await stage.harness.elapse(10.5 * second);
      // It has claimed before, so two spans of 5 s fit into the time.
      assert.ok(total(calls) <= 2, `${total(calls)} calls in 10.5 s: ${JSON.stringify([...calls])}`);
      assert.equal(consumer.health().state, "running");
    }),
  },
  {
    promise: 15,
    operation: "consume",
    name: "Cheap when idle: a consumer that waits in a pause with messages due makes at most one call in 5 s",
    run: onStage(async (stage) => {
      const recorder = new Recorder(stage);
      await stage.queue.pause();
      await stage.put("due");
      const { engine, calls } = counting(stage.harness.engine);
      const consumer = recorder.consume({ engine });
      await stage.harness.until(() => consumer.health().state === "running", "it is running", 3 * second);
      await stage.harness.elapse(100);
      calls.clear();
      await stage.harness.elapse(10.5 * second);
      assert.ok(total(calls) <= 2, `${total(calls)} calls in 10.5 s: ${JSON.stringify([...calls])}`);
    }),
  },
  {
    promise: 15,
    operation: "watch",
    name: "Cheap when idle: 50 consumers make at most twice the claims of one for the same messages",
    alone: true,
    run: async (harness) => {
      const measure = async (consumers: number) => {
        let claims = 0;
        await onStage(async (stage) => {
          claims = await claimsOf(stage, consumers, 20);
        })(harness);
        return claims;
      };
      const one = await measure(1);
      const fifty = await measure(50);
      // Messages that a busy machine was late for share a claim; no less than one each is what a consumer alone makes.
      const fair = Math.max(one, 40);
      assert.ok(one > 0 && fifty <= 2 * fair + 5, `50 consumers made ${fifty} claims for 40 messages, one made ${one}`);
    },
  },
];
