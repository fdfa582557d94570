import assert from "node:assert/strict";
import type { Engine } from "../../../engine.js";
import { PunctualError } from "../../../errors.js";
import type { ConformanceCase } from "../conformance-case.js";
import { interposed, tookSomething } from "../interposed-engine.js";
import { Recorder } from "../recorder.js";
import { hour, ids, newMessage, onStage, second } from "../stage.js";

/** An engine that cannot be reached while it is down. */
function unreachable(engine: Engine): { engine: Engine; down: boolean } {
  const state = {
    down: false,
    engine: interposed(engine, {
      async around(_, call) {
        if (state.down) throw new PunctualError("not-sent", "The store is out of reach.");
        return call();
      },
    }),
  };
  return state;
}

export const comesBackCases: readonly ConformanceCase[] = [
  {
    promise: 10,
    operation: "health",
    name: "It comes back: after an outage of 10 s a consumer works again within 5 s, and its health told the truth",
    run: onStage(async (stage) => {
      const recorder = new Recorder(stage);
      const link = unreachable(stage.harness.engine);
      const consumer = recorder.consume({ engine: link.engine });
      const errors: unknown[] = [];
      let recovered = 0;
      consumer.on("error", (error) => errors.push(error));
      consumer.on("recovered", () => recovered++);
      await stage.harness.until(() => consumer.health().state === "running", "it is running", 3 * second);
      link.down = true;
      await stage.put("a");
      await stage.harness.elapse(10 * second);
      assert.equal(consumer.health().state, "recovering");
      assert.deepEqual(recorder.ids, []);
      assert.equal(errors.length, 1, "an outage is told once");
      link.down = false;
      await recorder.started(1, 5 * second);
      assert.equal(consumer.health().state, "running");
      assert.equal(recovered, 1);
    }),
  },
  {
    promise: 10,
    operation: "claim",
    name: "It comes back: a claim whose reply was lost is repeated, and what it took is delivered once, in its first attempt",
    run: onStage(async (stage) => {
      const recorder = new Recorder(stage);
      let lost = 0;
      const engine = interposed(stage.harness.engine, {
        async around(operation, call) {
          const answer = await call();
          if (lost === 0 && tookSomething(operation, answer)) {
            lost++;
            throw new PunctualError("outcome-unknown", "The reply was lost.");
          }
          return answer;
        },
      });
      await stage.queue.schedule(ids(5).map((id) => newMessage(id)));
      recorder.consume({ engine });
      await recorder.started(5, 5 * second);
      assert.equal(lost, 1);
      await stage.harness.elapse(100);
      assert.deepEqual(recorder.ids, ids(5));
      assert.ok(recorder.starts.every((start) => start.attempt === 1));
    }),
  },
  {
    promise: 10,
    operation: "acknowledge",
    name: "It comes back: what could not be acknowledged in an outage is acknowledged after it, and not delivered again",
    run: onStage(async (stage) => {
      const recorder = new Recorder(stage);
      const link = unreachable(stage.harness.engine);
      await stage.put("a");
      const consumer = recorder.consume({ engine: link.engine, work: () => void (link.down = true) });
      let acknowledged = 0;
      consumer.on("acknowledged", () => acknowledged++);
      await recorder.started(1);
      await stage.harness.elapse(second);
      assert.equal(acknowledged, 0, "it cannot be while the store is out of reach");
      link.down = false;
      await stage.harness.until(() => acknowledged > 0, "it is acknowledged", 5 * second);
      assert.equal(recorder.count("a"), 1);
    }),
  },
  {
    promise: 10,
    operation: "watch",
    name: "It comes back: after every connection was cut consumers work and are woken as before, and nothing is lost",
    alone: true,
    run: onStage(async (stage) => {
      const recorder = new Recorder(stage);
      const consumers = await recorder.consumers(3);
      await stage.put("far", { due: { delay: hour } });
      // Some come due while nobody can be reached. An engine that takes messages out to deliver them may lose those, so its
      // messages come due when connections are back.
      const soonest = stage.harness.forgets === true ? 2_500 : 0;
      for (let round = 0; round < 3; round++) {
        const scheduling = Promise.all(
          ids(50, `round-${round}`).map((id, index) =>
            stage.queue.schedule([newMessage(id, { due: { delay: soonest + index * 4 } })]),
          ),
        );
        await stage.harness.disturb();
        await stage.passing(scheduling, "all are scheduled", 10 * second);
        const rest = new Set(ids(50, `round-${round}`));
        const all = () => {
          for (const id of recorder.ids) rest.delete(id);
          return rest.size === 0;
        };
        await stage.harness.until(all, "all are delivered", soonest + 5 * second);
        const running = () => consumers.every((consumer) => consumer.health().state === "running");
        await stage.harness.until(running, "all consumers are running", 5 * second);
        // Asleep by now: only a wake-up brings this one in time.
        await stage.harness.disturb();
        await stage.harness.until(running, "all consumers are running again", 5 * second);
        await stage.put(`asleep-${round}`, { due: { delay: 200 } });
        await stage.harness.until(() => recorder.count(`asleep-${round}`) > 0, "it is delivered", 5 * second);
      }
      assert.ok(!recorder.ids.includes("far"));
    }),
  },
];
