import assert from "node:assert/strict";
import type { ConformanceCase } from "../conformance-case.js";
import { bring } from "../situations.js";
import { hour, ids, minute, newMessage, onStage, second, text } from "../stage.js";

export const readCases: readonly ConformanceCase[] = [
  {
    operation: "get",
    name: "Reading answers in the order asked, with nothing for what is absent, and changes nothing",
    run: onStage(async (stage) => {
      await stage.put("a");
      await stage.put("b", { due: { delay: hour } });
      const found = await stage.otherQueue.get(["b", "absent", "a", "b"]);
      assert.deepEqual(
        found.map((message) => message?.id),
        ["b", undefined, "a", "b"],
      );
      assert.deepEqual((await stage.take()).ids, ["a"]);
    }),
  },
  {
    operation: "get",
    name: "A message is read with its state: scheduled, due, leased until when, dead since when and why",
    run: onStage(async (stage) => {
      await bring(stage, "dead", "dead");
      await bring(stage, "leased", "leased");
      await bring(stage, "due", "due");
      await bring(stage, "scheduled", "scheduled");
      const scheduled = await stage.read("scheduled");
      assert.deepEqual([scheduled.state, scheduled.attempt, scheduled.leaseUntil], ["scheduled", 0, undefined]);
      const due = await stage.read("due");
      assert.deepEqual([due.state, due.attempt, due.leaseUntil, due.lastError], ["due", 0, undefined, undefined]);
      const leased = await stage.read("leased");
      assert.deepEqual([leased.state, leased.attempt, leased.buried], ["leased", 1, undefined]);
      const now = await stage.now();
      assert.ok(leased.leaseUntil !== undefined && leased.leaseUntil > now && leased.leaseUntil <= now + minute);
      const dead = await stage.read("dead");
      assert.deepEqual(
        [dead.state, dead.attempt, dead.leaseUntil, dead.buried?.reason],
        ["dead", 1, undefined, "poison"],
      );
      assert.deepEqual(
        [scheduled, due, leased, dead].map((message) => text(message.payload)),
        ["scheduled", "due", "leased", "dead"].map((id) => `payload of ${id}`),
      );
    }),
  },
  {
    operation: "get",
    name: "A lease that has ended is read as reclaimed: due since its end with one attempt used, or dead after the last",
    run: onStage(async (stage) => {
      await stage.put("a");
      await stage.put("last", { attempts: 1 });
      const { leaseUntil } = await stage.take({ lease: second });
      await stage.harness.elapse(second + 20);
      const message = await stage.read("a");
      assert.deepEqual(
        [message.state, message.attempt, message.dueAt, message.leaseUntil],
        ["due", 1, leaseUntil, undefined],
      );
      const last = await stage.read("last");
      assert.deepEqual([last.state, last.attempt, last.buried?.reason], ["dead", 1, "attempts"]);
    }),
  },
  {
    operation: "get",
    name: "2,500 ids are read in one call",
    run: onStage(async (stage) => {
      const all = ids(2_500);
      await stage.queue.schedule(all.map((id) => newMessage(id)));
      const found = await stage.queue.get(all);
      assert.deepEqual(
        found.map((message) => message?.id),
        all,
      );
    }),
  },
  {
    operation: "counts",
    name: "Counts tell scheduled, due and leased apart",
    run: onStage(async (stage) => {
      await stage.queue.schedule(ids(10).map((id) => newMessage(id)));
      await stage.put("far", { due: { delay: hour } });
      const receipts = (await stage.takeAll(6)).flatMap((claim) => claim.receipts);
      await stage.queue.retry(receipts.slice(1, 3).map((receipt) => ({ ...receipt, delay: hour })));
      await stage.queue.acknowledge(receipts.slice(3, 4));
      const { scheduled, due, leased, paused } = await stage.queue.counts();
      assert.deepEqual({ scheduled, due, leased, paused }, { scheduled: 3, due: 4, leased: 3, paused: false });
    }),
  },
  {
    operation: "counts",
    name: "Counts tell scheduled, due, leased and dead apart",
    run: onStage(async (stage) => {
      assert.deepEqual(
        { ...(await stage.queue.counts()) },
        { scheduled: 0, due: 0, leased: 0, dead: 0, paused: false },
      );
      await stage.queue.schedule(ids(10).map((id) => newMessage(id)));
      const { receipts } = await stage.take({ limit: 6 });
      await stage.queue.bury(receipts.slice(0, 1).map((receipt) => ({ ...receipt, reason: "poison" })));
      await stage.queue.retry(receipts.slice(1, 3).map((receipt) => ({ ...receipt, delay: hour })));
      await stage.queue.acknowledge(receipts.slice(3, 4));
      assert.deepEqual(
        { ...(await stage.otherQueue.counts()) },
        { scheduled: 2, due: 4, leased: 2, dead: 1, paused: false },
      );
    }),
  },
  {
    promise: 13,
    operation: "counts",
    name: "No orphans: after a mixed life the counts are those of the messages that can be read, state by state",
    run: onStage(async (stage) => {
      const all = ids(120);
      const put = (id: string, index: number) =>
        newMessage(id, { due: { delay: index % 5 === 4 ? hour : 0 }, attempts: (index % 3) + 1 });
      await stage.queue.schedule(all.map(put));
      for (let round = 0; round < 6; round++) {
        // None of the last ones ends between reading and counting.
        const { receipts } = await stage.take({ limit: 30, lease: round < 4 ? second : minute });
        const part = (from: number) => receipts.filter((_, index) => index % 6 === from);
        await stage.queue.acknowledge(part(0));
        await stage.queue.retry(part(1).map((receipt) => ({ ...receipt, delay: 0 })));
        await stage.queue.release(part(2));
        await stage.queue.bury(part(3).map((receipt) => ({ ...receipt, reason: "poison" })));
        await stage.queue.extend(part(4), minute);
        await stage.queue.cancel(all.filter((_, index) => index % 17 === round));
        await stage.queue.schedule(
          all.filter((_, index) => index % 13 === round).map((id) => newMessage(id, { onDuplicate: "replace" })),
        );
        if (round === 3) await stage.harness.elapse(second + 20);
      }
      // Ends the leases that ran out.
      await stage.take({ limit: 0 });
      const found = await stage.queue.get(all);
      const { paused, ...counts } = await stage.queue.counts();
      assert.equal(paused, false);
      for (const [state, count] of Object.entries(counts)) {
        assert.equal(found.filter((message) => message?.state === state).length, count, state);
      }
    }),
  },
];
