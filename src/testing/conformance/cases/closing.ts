import assert from "node:assert/strict";
import { Gate } from "../../../consumer/gate.js";
import type { ConformanceCase } from "../conformance-case.js";
import { interposed, tookSomething } from "../interposed-engine.js";
import { Recorder, textQueue } from "../recorder.js";
import { hour, newMessage, onStage, second } from "../stage.js";

export const closingCases: readonly ConformanceCase[] = [
  {
    operation: "close",
    name: "Closing a consumer waits for its handlers, acknowledges what they did, and starts nothing more",
    run: onStage(async (stage) => {
      const recorder = new Recorder(stage);
      const gate = new Gate();
      await stage.put("a");
      const consumer = recorder.consume({ work: () => gate.opened });
      const acknowledged: string[] = [];
      consumer.on("acknowledged", ({ id }) => acknowledged.push(id));
      await recorder.started(1);
      let closed = false;
      const closing = consumer.close().then(() => (closed = true));
      await stage.put("b");
      await stage.harness.elapse(200);
      assert.equal(closed, false);
      assert.equal(consumer.health().state, "closing");
      gate.open();
      await stage.passing(closing, "the consumer is closed");
      assert.equal(consumer.health().state, "closed");
      assert.deepEqual(acknowledged, ["a"]);
      await stage.harness.elapse(100);
      assert.deepEqual(recorder.ids, ["a"]);
      assert.deepEqual((await stage.take()).ids, ["b"]);
    }),
  },
  {
    promise: 5,
    operation: "close",
    name: "Bounded redelivery: what a closing consumer has claimed and not started is due again at once, no attempt used",
    run: onStage(async (stage) => {
      const recorder = new Recorder(stage);
      const gate = new Gate();
      let claimed = 0;
      // The reply of a claim that took something is on its way when the consumer is closed.
      const engine = interposed(stage.harness.engine, {
        async around(operation, call) {
          const answer = await call();
          if (tookSomething(operation, answer)) {
            claimed++;
            await gate.opened;
          }
          return answer;
        },
      });
      await stage.queue.schedule(["a", "b"].map((id) => newMessage(id)));
      const consumer = recorder.consume({ engine });
      await stage.harness.until(() => claimed > 0, "the messages are claimed", 3 * second);
      const closing = consumer.close();
      await stage.harness.elapse(50);
      gate.open();
      await stage.passing(closing, "the consumer is closed");
      assert.deepEqual(recorder.ids, []);
      const { messages } = await stage.take({ from: stage.otherQueue });
      assert.deepEqual(
        messages.map((message) => [message.id, message.attempt]),
        [
          ["a", 1],
          ["b", 1],
        ],
      );
    }),
  },
  {
    promise: 5,
    operation: "close",
    name: "Bounded redelivery: close that gives up waiting hands leases back at once, then aborts, and no attempt is used",
    run: onStage(async (stage) => {
      const recorder = new Recorder(stage);
      const gate = new Gate();
      const reasons: unknown[] = [];
      await stage.put("a");
      const consumer = recorder.consume({
        async work(delivery) {
          delivery.signal.addEventListener("abort", () => reasons.push(delivery.signal.reason));
          await gate.opened;
          throw new Error("it was aborted");
        },
      });
      await recorder.started(1);
      const next = new Recorder(stage);
      const held = new Gate();
      const other = next.consume({ engine: stage.harness.other, work: () => held.opened });
      await stage.passing(consumer.close({ timeout: 100 }), "the consumer is closed", 2 * second);
      const [reason] = reasons;
      assert.ok(reason instanceof Error && "code" in reason && reason.code === "closed");
      await next.started(1, second);
      assert.equal(next.starts[0]?.attempt, 1);
      gate.open();
      await stage.harness.elapse(100);
      let acknowledged = 0;
      other.on("acknowledged", () => acknowledged++);
      held.open();
      await stage.harness.until(() => acknowledged === 1, "the late rejection settled nothing", 2 * second);
    }),
  },
  {
    operation: "close",
    name: "A handler that fails after its consumer gave up waiting changes nothing of the message that it handed back",
    run: onStage(async (stage) => {
      const recorder = new Recorder(stage);
      const gate = new Gate();
      await stage.put("a");
      const consumer = recorder.consume({
        async work() {
          await gate.opened;
          throw new Error("it was aborted");
        },
      });
      await recorder.started(1);
      await stage.passing(consumer.close({ timeout: 100 }), "the consumer is closed", 2 * second);
      await stage.take({ from: stage.otherQueue });
      gate.open();
      await stage.harness.elapse(100);
      const { state, attempt, lastError } = await stage.read("a");
      assert.deepEqual([state, attempt, lastError], ["leased", 1, undefined]);
    }),
  },
  {
    operation: "close",
    name: "A handler may schedule while its consumer closes",
    run: onStage(async (stage) => {
      const recorder = new Recorder(stage);
      const gate = new Gate();
      const queue = textQueue(stage);
      await stage.put("a");
      const consumer = recorder.consume({
        async work() {
          await gate.opened;
          await queue.schedule("follows", { id: "b", delay: "1h" });
        },
      });
      await recorder.started(1);
      const closing = consumer.close();
      await stage.harness.elapse(20);
      gate.open();
      await stage.passing(closing, "the consumer is closed");
      const { scheduled, due, leased } = await stage.queue.counts();
      assert.deepEqual([scheduled, due, leased], [1, 0, 0]);
    }),
  },
  {
    operation: "close",
    name: "Closing twice is closing once, by close or by await using, before the first claim or long after",
    run: onStage(async (stage) => {
      const recorder = new Recorder(stage);
      const early = recorder.consume();
      await stage.passing(early.close(), "the early one is closed");
      assert.equal(early.health().state, "closed");
      const [consumer] = await recorder.consumers(1);
      assert.ok(consumer !== undefined);
      await stage.passing(Promise.all([consumer.close(), consumer.close()]), "both calls are done");
      await stage.passing(consumer.close(), "a third call is done");
      await stage.passing(consumer[Symbol.asyncDispose](), "it is disposed of");
      assert.deepEqual([consumer.health().state, consumer.health().active], ["closed", 0]);
    }),
  },
  {
    operation: "close",
    name: "A closed engine ends every call with closed, and closing it again does nothing",
    run: onStage(async (stage) => {
      await stage.put("a", { due: { delay: hour } });
      await stage.harness.engine.close();
      await stage.harness.engine.close();
      const closed = { name: "PunctualError", code: "closed" };
      await assert.rejects(stage.queue.schedule([newMessage("b")]), closed);
      await assert.rejects(stage.queue.get(["a"]), closed);
      await assert.rejects(stage.take(), closed);
      await assert.rejects(textQueue(stage).cancel("a"), closed);
    }),
  },
  {
    operation: "watch",
    name: "Closing an engine tells its watches and closes its consumers, and consuming on it is refused",
    run: onStage(async (stage) => {
      const told: string[] = [];
      await stage.queue.watch("watcher", {
        wake() {},
        postpone() {},
        interrupted: ({ code }) => told.push(code),
        recovered() {},
      });
      assert.equal(stage.queue.closed, false);
      const recorder = new Recorder(stage);
      const reasons: unknown[] = [];
      const gate = new Gate();
      const consumer = recorder.consume({
        work({ signal }) {
          signal.addEventListener("abort", () => reasons.push(signal.reason));
          return gate.opened;
        },
      });
      await stage.put("a");
      await recorder.started(1);
      await stage.harness.engine.close();
      assert.deepEqual([told, stage.queue.closed], [["closed"], true]);
      const isOver = () => consumer.health().state === "closed" && reasons.length === 1;
      await stage.harness.until(isOver, "the consumer is closed and its handler aborted", second);
      gate.open();
      assert.throws(() => textQueue(stage).consume(() => {}), { code: "closed" });
    }),
  },
  {
    operation: "close",
    name: "A consumer that closes passes on at once what it was to look after, however long its last handler runs",
    alone: true,
    run: onStage(async (stage) => {
      const recorder = new Recorder(stage);
      const gate = new Gate();
      const closing = recorder.consume({ work: ({ id }) => (id === "long" ? gate.opened : undefined) });
      await stage.put("long");
      await recorder.started(1);
      await recorder.consumers(1);
      const closed = closing.close();
      await stage.harness.elapse(100);
      await stage.put("next", { due: { delay: 200 } });
      await recorder.started(2);
      assert.ok((recorder.starts[1]?.lateness ?? Infinity) < 1_000, "it waited for a poll");
      gate.open();
      await stage.passing(closed, "the consumer is closed");
    }),
  },
];
