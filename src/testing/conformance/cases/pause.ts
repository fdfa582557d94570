import assert from "node:assert/strict";
import type { ConformanceCase } from "../conformance-case.js";
import { hour, ids, newMessage, onStage, second } from "../stage.js";

export const pauseCases: readonly ConformanceCase[] = [
  {
    promise: 14,
    operation: "pause",
    name: "Pause is a pause: after pause no claim of any process takes anything, until resume",
    run: onStage(async (stage) => {
      await stage.queue.schedule(ids(3).map((id) => newMessage(id)));
      assert.equal((await stage.queue.counts()).paused, false);
      await stage.queue.pause();
      assert.equal((await stage.otherQueue.counts()).paused, true);
      for (const from of [stage.queue, stage.otherQueue]) {
        const claim = await stage.take({ from });
        assert.deepEqual(claim.ids, []);
        assert.ok(claim.nextAt > claim.now, "what is due in a pause is no reason to claim again at once");
      }
      await stage.otherQueue.resume();
      assert.equal((await stage.queue.counts()).paused, false);
      assert.deepEqual((await stage.take()).ids, ["m-0", "m-1", "m-2"]);
    }),
  },
  {
    promise: 14,
    operation: "pause",
    name: "Pause is a pause: clocks go on, so that what came due meanwhile is delivered once after resume, in order",
    run: onStage(async (stage) => {
      await stage.put("now");
      await stage.put("later", { due: { delay: 100 } });
      await stage.queue.pause();
      await stage.put("meanwhile", { due: { delay: 150 } });
      await stage.harness.elapse(200);
      assert.deepEqual((await stage.take()).ids, []);
      const { scheduled, due } = await stage.queue.counts();
      assert.equal(scheduled, 0);
      assert.equal(due, 3, "what is due is counted as due in a pause, too");
      await stage.queue.resume();
      const claim = await stage.take();
      assert.deepEqual(claim.ids, ["now", "later", "meanwhile"]);
      assert.deepEqual((await stage.take({ from: stage.otherQueue })).ids, []);
    }),
  },
  {
    promise: 14,
    operation: "pause",
    name: "Pause is a pause: what expired meanwhile is buried after resume, and the rest is delivered",
    run: onStage(async (stage) => {
      await stage.queue.pause();
      await stage.queue.schedule([newMessage("expired", { expiresIn: 50 }), newMessage("a")]);
      await stage.harness.elapse(100);
      const { due } = await stage.queue.counts();
      assert.ok(due >= 1, "what is due is counted as due in a pause, too");
      await stage.queue.resume();
      assert.deepEqual((await stage.take()).ids, ["a"]);
      assert.equal((await stage.read("expired")).state, "dead");
    }),
  },
  {
    promise: 14,
    operation: "pause",
    name: "Pause is a pause: who holds a lease may settle it, and what comes back stays until the pause ends",
    run: onStage(async (stage) => {
      await stage.queue.schedule(ids(4).map((id) => newMessage(id)));
      const { receipts } = await stage.take();
      const [a, b, c, d] = receipts;
      assert.ok(a !== undefined && b !== undefined && c !== undefined && d !== undefined);
      await stage.queue.pause();
      assert.deepEqual(await stage.queue.acknowledge([a]), ["settled"]);
      assert.deepEqual(await stage.queue.retry([{ ...b, delay: 0 }]), ["settled"]);
      assert.deepEqual(await stage.queue.release([c]), ["settled"]);
      assert.equal((await stage.queue.extend([d], hour))[0]?.outcome, "extended");
      for (const from of [stage.queue, stage.otherQueue]) assert.deepEqual((await stage.take({ from })).ids, []);
      await stage.queue.resume();
      const { messages } = await stage.take();
      assert.deepEqual(
        messages.map(({ id, attempt }) => `${id} ${attempt}`).toSorted(),
        [`${b.id} 2`, `${c.id} 1`].toSorted(),
      );
    }),
  },
  {
    promise: 14,
    operation: "pause",
    name: "Pause is a pause: who holds a lease may settle it, and a lease that ends is not given to anybody",
    run: onStage(async (stage) => {
      await stage.queue.schedule(ids(5).map((id) => newMessage(id)));
      const { receipts } = await stage.take({ lease: second });
      await stage.harness.elapse(10);
      const [a, b, c, d] = receipts;
      assert.ok(a !== undefined && b !== undefined && c !== undefined && d !== undefined);
      await stage.queue.pause();
      assert.deepEqual(await stage.queue.acknowledge([a]), ["settled"]);
      assert.deepEqual(await stage.queue.retry([{ ...b, delay: 0 }]), ["settled"]);
      assert.deepEqual(await stage.queue.release([c]), ["settled"]);
      assert.equal((await stage.queue.extend([d], hour))[0]?.outcome, "extended");
      await stage.harness.elapse(second + 20);
      assert.deepEqual((await stage.take({ from: stage.otherQueue })).ids, []);
      await stage.queue.resume();
      const claim = await stage.take();
      assert.deepEqual(
        claim.messages.map((message) => [message.id, message.attempt]),
        [
          ["m-2", 1],
          ["m-1", 2],
          ["m-4", 2],
        ],
      );
    }),
  },
  {
    promise: 14,
    operation: "resume",
    name: "Pause is a pause: pausing twice is pausing once, and resuming what is not paused changes nothing",
    run: onStage(async (stage) => {
      await stage.queue.resume();
      await stage.put("a");
      await stage.queue.pause();
      await stage.otherQueue.pause();
      assert.equal((await stage.queue.counts()).paused, true);
      assert.deepEqual((await stage.take()).ids, []);
      await stage.queue.resume();
      await stage.queue.resume();
      assert.equal((await stage.queue.counts()).paused, false);
      assert.deepEqual((await stage.take()).ids, ["a"]);
    }),
  },
  {
    operation: "pause",
    name: "A paused queue takes new messages, keeps them over the pause, and its neighbours are not paused",
    run: onStage(async (stage) => {
      await stage.queue.pause();
      const results = await stage.queue.schedule(["a", "b"].map((id) => newMessage(id)));
      assert.ok(results.every(({ outcome }) => outcome === "scheduled"));
      assert.equal((await stage.queue.schedule([newMessage("a")]))[0]?.outcome, "duplicate");
      const neighbour = stage.harness.engine.open(`${stage.name}.x`);
      await neighbour.schedule([newMessage("n")]);
      assert.deepEqual((await stage.take({ from: neighbour })).ids, ["n"]);
      await stage.queue.resume();
      assert.deepEqual((await stage.take()).ids.toSorted(), ["a", "b"]);
    }),
  },
  {
    operation: "pause",
    name: "A paused queue takes new messages, cancels and reschedules as ever, and its neighbours are not paused",
    run: onStage(async (stage) => {
      await stage.queue.pause();
      const results = await stage.queue.schedule(["a", "b"].map((id) => newMessage(id)));
      assert.ok(results.every(({ outcome }) => outcome === "scheduled"));
      assert.deepEqual(await stage.queue.cancel(["a"]), ["cancelled"]);
      assert.deepEqual(await stage.queue.reschedule([{ id: "b", due: { delay: hour } }]), ["rescheduled"]);
      const neighbour = stage.harness.engine.open(`${stage.name}.x`);
      await neighbour.schedule([newMessage("n")]);
      assert.deepEqual((await stage.take({ from: neighbour })).ids, ["n"]);
    }),
  },
];
