import assert from "node:assert/strict";
import { Gate } from "../../../consumer/gate.js";
import { Queue } from "../../../queue.js";
import type { ConformanceCase } from "../conformance-case.js";
import { Recorder, textQueue } from "../recorder.js";
import { hour, onStage, second } from "../stage.js";

export const eventsAndHealthCases: readonly ConformanceCase[] = [
  {
    operation: "events",
    name: "Events tell what became of each delivery: delivered, acknowledged, retried with delay and error, buried with reason",
    run: onStage(async (stage) => {
      const recorder = new Recorder(stage);
      const told: string[] = [];
      await stage.put("good");
      await stage.put("bad", { attempts: 2 });
      await stage.put("poison");
      await stage.put("expired", { expiresIn: 10 });
      await stage.harness.elapse(30);
      const consumer = recorder.consume({
        async work(delivery) {
          if (delivery.id === "bad") throw new Error("no good");
          if (delivery.id === "poison") await delivery.bury("poison");
        },
        retry: { backoff: () => 30 },
      });
      consumer.on("delivered", ({ id, attempt }) => told.push(`delivered ${id} ${attempt}`));
      consumer.on("acknowledged", ({ id }) => told.push(`acknowledged ${id}`));
      consumer.on("retried", ({ id }, { delay, error }) => {
        told.push(`retried ${id} ${delay} ${error instanceof Error ? error.message : "?"}`);
      });
      consumer.on("buried", ({ id }, { reason }) => told.push(`buried ${id} ${reason}`));
      const expected = [
        "acknowledged good",
        "buried bad attempts",
        "buried expired expired",
        "buried poison poison",
        "delivered bad 1",
        "delivered bad 2",
        "delivered good 1",
        "delivered poison 1",
        "retried bad 30 no good",
      ];
      await stage.harness.until(() => told.length >= expected.length, "all is told", 3 * second);
      await stage.harness.elapse(50);
      assert.deepEqual(told.toSorted(), expected);
    }),
  },
  {
    operation: "events",
    name: "A listener that throws, or an error that nobody listens to, does not stop a consumer; off takes a listener away",
    run: onStage(async (stage) => {
      const recorder = new Recorder(stage);
      const consumer = recorder.consume({
        async work(delivery) {
          await delivery.acknowledge();
          throw new Error("after it was settled");
        },
      });
      let heard = 0;
      const count = () => heard++;
      const fail = (): never => {
        throw new Error("a listener that fails");
      };
      consumer.on("delivered", fail).on("delivered", count).on("acknowledged", fail);
      await stage.put("a");
      await recorder.started(1);
      consumer.off("delivered", count);
      await stage.put("b");
      await recorder.started(2);
      const empty = async () => {
        const { due, leased } = await stage.queue.counts();
        return due + leased === 0;
      };
      await stage.harness.until(empty, "both are acknowledged", 3 * second);
      assert.equal(heard, 1);
    }),
  },
  {
    operation: "health",
    name: "Health goes from starting to running, closing and closed, and says how many handlers are at work",
    run: onStage(async (stage) => {
      const recorder = new Recorder(stage);
      const gate = new Gate();
      const consumer = recorder.consume({ work: () => gate.opened });
      assert.deepEqual([consumer.health().state, consumer.health().active], ["starting", 0]);
      assert.equal(consumer.health().lastClaimAt, undefined);
      await stage.harness.until(() => consumer.health().state === "running", "it is running", 3 * second);
      await stage.put("a");
      await stage.put("b");
      await recorder.started(2);
      const { active, lastClaimAt } = consumer.health();
      assert.equal(active, 2);
      assert.ok(lastClaimAt !== undefined);
      // A consumer that waits, and one that is full, stay in touch with the store.
      await stage.harness.elapse(8 * second);
      assert.equal(consumer.health().state, "running");
      const closing = consumer.close();
      assert.equal(consumer.health().state, "closing");
      gate.open();
      await stage.passing(closing, "it is closed");
      assert.deepEqual([consumer.health().state, consumer.health().active], ["closed", 0]);
    }),
  },
  {
    operation: "get",
    name: "A queue reads its messages back as they were scheduled: payload, state, dates, headers, and why one is dead",
    run: onStage(async (stage) => {
      const queue = new Queue<{ order: string; lines: number[] }>(stage.name, { engine: stage.harness.engine });
      const payload = { order: "A1 \u{1F389}", lines: [] };
      const { dueAt } = await queue.schedule(payload, { id: "a", delay: "1h", headers: { x: "y" } });
      const message = await queue.get("a");
      assert.deepEqual(
        [message?.id, message?.state, message?.payload, message?.dueAt, message?.attempt, { ...message?.headers }],
        ["a", "scheduled", payload, dueAt, 0, { x: "y" }],
      );
      assert.equal(await queue.get("absent"), undefined);
      assert.equal(await queue.reschedule("a", { delay: 0 }), "rescheduled");
      const { receipts } = await stage.take();
      assert.ok(((await queue.get("a"))?.leaseUntil?.getTime() ?? 0) > dueAt.getTime() - hour);
      const error = { name: "Error", message: "no use" };
      await stage.queue.bury(receipts.map((receipt) => ({ ...receipt, reason: "poison", error })));
      const dead = await queue.get("a");
      assert.deepEqual([dead?.state, dead?.buried?.reason, dead?.lastError?.message], ["dead", "poison", "no use"]);
      assert.ok(dead?.buried?.at instanceof Date && dead.lastError?.at instanceof Date);
    }),
  },
  {
    operation: "counts",
    name: "A queue cancels, counts, pauses and resumes as its engine does",
    run: onStage(async (stage) => {
      const queue = textQueue(stage);
      await queue.scheduleMany(["a", "b", "c"].map((id) => ({ payload: id, id, delay: hour })));
      assert.equal(await queue.cancel("a"), "cancelled");
      assert.equal(await queue.cancel("a"), "absent");
      assert.deepEqual(await queue.cancelMany(["x", "b", "b"]), ["absent", "cancelled", "absent"]);
      assert.deepEqual(await queue.cancelMany([]), []);
      await queue.pause();
      assert.deepEqual({ ...(await queue.counts()) }, { scheduled: 1, due: 0, leased: 0, dead: 0, paused: true });
      await queue.resume();
      assert.equal((await queue.counts()).paused, false);
      assert.equal(await queue.reschedule("c", { delay: 0 }), "rescheduled");
      assert.deepEqual((await stage.take()).ids, ["c"]);
      assert.equal(await queue.cancel("c"), "leased");
      assert.equal(await queue.reschedule("c", { delay: 0 }), "leased");
    }),
  },
];
