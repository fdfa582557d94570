import assert from "node:assert/strict";
import type { ScheduleResult } from "../../../engine.js";
import type { ConformanceCase } from "../conformance-case.js";
import { situations, bring } from "../situations.js";
import type { Situation } from "../situations.js";
import { bytes, hour, ids, newMessage, onStage, second, text } from "../stage.js";

type Outcome = ScheduleResult["outcome"];

/** What scheduling an id again answers, by what the id is in. */
const expected: Readonly<Record<Situation, { keep: Outcome; replace: Outcome }>> = {
  absent: { keep: "scheduled", replace: "scheduled" },
  scheduled: { keep: "duplicate", replace: "replaced" },
  due: { keep: "duplicate", replace: "replaced" },
  leased: { keep: "duplicate", replace: "leased" },
  "lease ended": { keep: "duplicate", replace: "replaced" },
  "last lease ended": { keep: "duplicate", replace: "replaced" },
  dead: { keep: "duplicate", replace: "replaced" },
  acknowledged: { keep: "scheduled", replace: "scheduled" },
  cancelled: { keep: "scheduled", replace: "scheduled" },
};

const again = { payload: bytes("second"), due: { delay: 2 * hour }, headers: { version: "2" }, attempts: 9 };

const keepCases = situations.map((situation): ConformanceCase => {
  const outcome = expected[situation].keep;
  return {
    promise: 4,
    operation: "schedule",
    name: `Idempotent schedule: an id that is ${situation}, kept, answers ${outcome} and leaves exactly one message`,
    run: onStage(async (stage) => {
      const receipt = await bring(stage, "a", situation, { headers: { version: "1" } });
      const before = await stage.find("a");
      const result = await stage.put("a", again);
      assert.equal(result.outcome, outcome);
      const after = await stage.read("a");
      // Keeping a message does not reclaim it: until a claim has come, its due time is the one that it was claimed with.
      if (situation === "lease ended") assert.ok(result.dueAt < after.dueAt);
      else assert.equal(result.dueAt, after.dueAt, "the answer holds the due time that is stored");
      if (outcome === "duplicate") assert.deepEqual(after, before, "the message that was there is unchanged");
      else assert.equal(text(after.payload), "second");
      if (situation === "leased" && receipt !== undefined) {
        assert.deepEqual(await stage.queue.acknowledge([receipt]), ["settled"]);
      }
      const { scheduled, due, leased, dead } = await stage.queue.counts();
      assert.equal(scheduled + due + leased + dead, situation === "leased" ? 0 : 1);
    }),
  };
});

const replaceCases = situations.map((situation): ConformanceCase => {
  const outcome = expected[situation].replace;
  return {
    operation: "schedule",
    name: `An id that is ${situation}, scheduled again with replace, answers ${outcome}`,
    run: onStage(async (stage) => {
      const receipt = await bring(stage, "a", situation, { headers: { version: "1" } });
      const before = await stage.find("a");
      const start = await stage.now();
      const result = await stage.put("a", { ...again, onDuplicate: "replace" });
      assert.equal(result.outcome, outcome);
      const after = await stage.read("a");
      assert.equal(result.dueAt, after.dueAt, "the answer holds the due time that is stored");
      if (outcome === "leased") {
        assert.deepEqual(after, before, "nothing is changed while it is being worked on");
        return;
      }
      assert.ok(after.dueAt >= start + 2 * hour);
      assert.deepEqual(
        [after.state, text(after.payload), after.attempt, after.lastError, after.buried, after.leaseUntil],
        ["scheduled", "second", 0, undefined, undefined, undefined],
        "payload and state are those of a new message",
      );
      assert.deepEqual({ ...after.headers }, { version: "2" });
      if (receipt !== undefined) {
        assert.deepEqual(await stage.queue.acknowledge([receipt]), ["lease-lost"], "the old lease is void");
      }
      await stage.queue.reschedule([{ id: "a", due: { delay: 0 } }]);
      const { messages } = await stage.take();
      assert.deepEqual(
        messages.map((message) => [text(message.payload), message.attempt, message.attempts]),
        [["second", 1, 9]],
      );
      const { scheduled, due, leased, dead } = await stage.queue.counts();
      assert.deepEqual([scheduled, due, leased, dead], [0, 0, 1, 0]);
    }),
  };
});

export const idempotentScheduleCases: readonly ConformanceCase[] = [
  {
    promise: 4,
    operation: "schedule",
    name: "Idempotent schedule: a message that is scheduled once more, unchanged, is a duplicate and is delivered once",
    run: onStage(async (stage) => {
      const at = Math.floor(await stage.now()) + 300;
      const all = [
        newMessage("at a time", { due: { at }, headers: { version: "1" }, attempts: 3 }),
        newMessage("after a delay", { due: { delay: 300 } }),
        newMessage("at once"),
      ];
      const first = await stage.queue.schedule(all);
      assert.ok(first.every(({ outcome }) => outcome === "scheduled"));
      for (const queue of [stage.queue, stage.otherQueue]) {
        assert.deepEqual(
          (await queue.schedule(all)).map(({ outcome, dueAt }) => [outcome, dueAt]),
          first.map(({ dueAt }) => ["duplicate", dueAt]),
        );
      }
      await stage.harness.elapse(350);
      const claims = await stage.takeAll(10);
      assert.deepEqual(claims.flatMap((claim) => claim.ids).toSorted(), all.map(({ id }) => id).toSorted());
    }),
  },
  ...keepCases,
  ...replaceCases,
  {
    promise: 4,
    operation: "schedule",
    name: "Idempotent schedule: of many that schedule one id at the same moment exactly one has scheduled it",
    run: onStage(async (stage) => {
      const queues = ids(40).map((_, index) => (index % 2 === 0 ? stage.queue : stage.otherQueue));
      const results = await Promise.all(queues.map((queue) => queue.schedule([newMessage("a")])));
      const outcomes = results.flat().map((result) => result.outcome);
      assert.equal(outcomes.filter((outcome) => outcome === "scheduled").length, 1);
      assert.equal(outcomes.filter((outcome) => outcome === "duplicate").length, 39);
      assert.deepEqual((await stage.take()).ids, ["a"]);
    }),
  },
  {
    promise: 4,
    operation: "schedule",
    name: "Idempotent schedule: an id that is twice in one batch is dealt with in the order of the batch",
    run: onStage(async (stage) => {
      const message = (id: string, payload: string, onDuplicate: "keep" | "replace") =>
        newMessage(id, { payload: bytes(payload), onDuplicate });
      const results = await stage.queue.schedule([
        message("a", "a1", "keep"),
        message("b", "b1", "keep"),
        message("a", "a2", "keep"),
        message("b", "b2", "replace"),
        message("b", "b3", "replace"),
        message("b", "b4", "keep"),
      ]);
      assert.deepEqual(
        results.map((result) => result.outcome),
        ["scheduled", "scheduled", "duplicate", "replaced", "replaced", "duplicate"],
      );
      const claim = await stage.take();
      assert.deepEqual(
        claim.messages.map((one) => text(one.payload)),
        ["a1", "b3"],
      );
    }),
  },
  {
    promise: 4,
    operation: "schedule",
    name: "Idempotent schedule: a failed message that is replaced starts anew, with all its attempts and without its error",
    run: onStage(async (stage) => {
      await stage.put("a", { attempts: 2 });
      const { receipts } = await stage.take();
      const error = { name: "Error", message: "first" };
      await stage.queue.retry(receipts.map((receipt) => ({ ...receipt, delay: 0, error })));
      assert.equal((await stage.read("a")).attempt, 1);
      const { outcome } = await stage.put("a", { attempts: 2, onDuplicate: "replace" });
      assert.equal(outcome, "replaced");
      const { attempt, lastError } = await stage.read("a");
      assert.deepEqual([attempt, lastError], [0, undefined]);
      for (const delivery of [1, 2]) {
        const claim = await stage.take({ lease: second });
        assert.deepEqual(
          claim.messages.map((message) => message.attempt),
          [delivery],
        );
        await stage.queue.retry(claim.receipts.map((receipt) => ({ ...receipt, delay: 0 })));
      }
      assert.equal((await stage.read("a")).state, "dead");
    }),
  },
];
