import assert from "node:assert/strict";
import type { ConformanceCase } from "../conformance-case.js";
import { bring, situations } from "../situations.js";
import type { Situation } from "../situations.js";
import { ids, newMessage, onStage, shuffled } from "../stage.js";

const expected: Readonly<Record<Situation, "cancelled" | "leased" | "absent">> = {
  absent: "absent",
  scheduled: "cancelled",
  due: "cancelled",
  leased: "leased",
  "lease ended": "cancelled",
  "last lease ended": "cancelled",
  dead: "cancelled",
  acknowledged: "absent",
  cancelled: "absent",
};

const matrix = situations.map((situation): ConformanceCase => {
  const answer = expected[situation];
  return {
    promise: 8,
    operation: "cancel",
    name: `Cancel tells the truth: an id that is ${situation} is answered with ${answer}`,
    run: onStage(async (stage) => {
      const receipt = await bring(stage, "a", situation);
      const before = await stage.find("a");
      assert.deepEqual(await stage.otherQueue.cancel(["a"]), [answer]);
      if (answer === "leased") {
        assert.deepEqual(await stage.find("a"), before, "it is left to whoever works on it");
        assert.ok(receipt !== undefined);
        assert.deepEqual(await stage.queue.acknowledge([receipt]), ["settled"]);
        return;
      }
      assert.equal(await stage.find("a"), undefined);
      assert.deepEqual(await stage.queue.cancel(["a"]), ["absent"]);
      if (receipt !== undefined) assert.deepEqual(await stage.queue.acknowledge([receipt]), ["lease-lost"]);
      const { scheduled, due, leased, dead } = await stage.queue.counts();
      assert.deepEqual([scheduled, due, leased, dead], [0, 0, 0, 0]);
      assert.deepEqual((await stage.take()).ids, [], "it is never delivered afterwards");
    }),
  };
});

export const cancelCases: readonly ConformanceCase[] = [
  ...matrix,
  {
    promise: 8,
    operation: "cancel",
    name: "Cancel tells the truth: a batch is answered in its order, and an id given twice is cancelled once",
    run: onStage(async (stage) => {
      await stage.queue.schedule(["a", "b"].map((id) => newMessage(id)));
      assert.deepEqual(await stage.queue.cancel(["x", "b", "a", "b"]), ["absent", "cancelled", "cancelled", "absent"]);
    }),
  },
  {
    promise: 8,
    operation: "cancel",
    name: "Cancel tells the truth: while others claim, each message is either cancelled or delivered, never both",
    run: onStage(async (stage) => {
      const all = ids(600);
      await stage.queue.schedule(all.map((id) => newMessage(id)));
      const taken: string[] = [];
      const cancelled: string[] = [];
      const leased: string[] = [];
      const order = shuffled(all);
      for (let from = 0; from < order.length; from += 15) {
        const [claim, ...answers] = await Promise.all([
          stage.take({ limit: 10 }),
          ...order.slice(from, from + 15).map(async (id) => ({ id, answer: (await stage.otherQueue.cancel([id]))[0] })),
        ]);
        for (const { id, answer } of answers) {
          if (answer === "cancelled") cancelled.push(id);
          if (answer === "leased") leased.push(id);
        }
        taken.push(...claim.ids);
      }
      assert.ok(cancelled.length > 0 && leased.length > 0, "both happen");
      assert.equal(cancelled.length + leased.length, all.length, "none was absent");
      for (const claim of await stage.takeAll(all.length)) taken.push(...claim.ids);
      assert.deepEqual(taken.toSorted(), leased.toSorted(), "delivered is what was answered with leased");
    }),
  },
  {
    promise: 9,
    operation: "cancel",
    name: "Bounded server work: 20,000 ids in one cancel are all cancelled",
    run: onStage(async (stage) => {
      const all = shuffled(ids(20_000));
      assert.deepEqual(await stage.queue.cancel(["absent"]), ["absent"]);
      await stage.queue.schedule(all.map((id) => newMessage(id, { due: { delay: 3_600_000 } })));
      assert.equal((await stage.queue.counts()).scheduled, 20_000);
      const answers = await stage.queue.cancel([...all, "absent"]);
      assert.equal(answers.length, 20_001);
      assert.ok(answers.slice(0, -1).every((answer) => answer === "cancelled"));
      assert.equal(answers.at(-1), "absent");
      assert.equal((await stage.queue.counts()).scheduled, 0);
    }),
  },
];
