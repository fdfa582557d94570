import assert from "node:assert/strict";
import type { ConformanceCase } from "../conformance-case.js";
import type { Stage } from "../stage.js";
import { bytes, hour, newMessage, onStage, second, text } from "../stage.js";

const rememberFor = 2 * second;

/** How a message that is due goes for good. What settles it was not told that ids are to be remembered. */
const ways: Readonly<Record<string, (stage: Stage) => Promise<unknown>>> = {
  acknowledged: async (stage) => stage.queue.acknowledge((await stage.take()).receipts),
  cancelled: (stage) => stage.queue.cancel(["a"]),
  "removed from the dead letters": async (stage) => {
    await bury(stage);
    assert.equal(await stage.queue.remove(["a"]), 1);
  },
  "cancelled among the dead letters": async (stage) => {
    await bury(stage);
    assert.deepEqual(await stage.queue.cancel(["a"]), ["cancelled"]);
  },
  "purged with all that wait": async (stage) => assert.equal(await stage.queue.purge("waiting"), 1),
  "purged with the dead letters": async (stage) => {
    await bury(stage);
    assert.equal(await stage.queue.purge("dead"), 1);
  },
};

async function bury(stage: Stage): Promise<void> {
  await stage.queue.bury((await stage.take()).receipts.map((receipt) => ({ ...receipt, reason: "poison" })));
}

const wayCases = Object.entries(ways).map(([way, go]): ConformanceCase => {
  return {
    promise: 4,
    operation: "open",
    name: `Idempotent schedule: an id that was ${way} is a duplicate for as long as it is remembered, and free after that`,
    run: onStage(async (stage) => {
      const queue = stage.harness.other.open(stage.name, { rememberFor });
      await queue.schedule([newMessage("a")]);
      // A producer that does not ask for it does not end it for the others.
      await stage.put("other", { due: { delay: hour } });
      await stage.queue.cancel(["other"]);
      const before = Math.floor(await stage.now());
      await go(stage);
      const after = await stage.now();
      for (const onDuplicate of ["keep", "replace"] as const) {
        for (const from of [queue, stage.queue]) {
          const [again] = await from.schedule([newMessage("a", { onDuplicate, due: { delay: hour } })]);
          const { outcome, dueAt } = again ?? { outcome: "nothing", dueAt: 0 };
          assert.equal(outcome, "duplicate");
          assert.ok(before <= dueAt && dueAt <= after, `${dueAt} is when it went, between ${before} and ${after}`);
        }
      }
      assert.deepEqual(await stage.queue.get(["a"]), [undefined], "nothing was stored");
      await stage.harness.elapse(rememberFor + 20);
      assert.equal((await stage.put("a", { due: { delay: hour } })).outcome, "scheduled");
      assert.equal((await stage.queue.audit()).ok, true);
    }),
  };
});

export const rememberCases: readonly ConformanceCase[] = [
  ...wayCases,
  {
    promise: 4,
    operation: "open",
    name: "Idempotent schedule: a message that is there is answered as what it is, though its like were to be remembered",
    run: onStage(async (stage) => {
      const queue = stage.harness.engine.open(stage.name, { rememberFor: hour });
      const put = async (payload: string, onDuplicate: "keep" | "replace") => {
        const [result] = await queue.schedule([newMessage("a", { payload: bytes(payload), onDuplicate })]);
        return result?.outcome;
      };
      assert.equal(await put("first", "keep"), "scheduled");
      assert.equal(await put("second", "replace"), "replaced");
      assert.equal(await put("third", "keep"), "duplicate");
      await bury(stage);
      assert.equal(await queue.revive(["a"], { delay: 0 }), 1);
      assert.equal(await put("fourth", "replace"), "replaced");
      const { messages } = await stage.take();
      assert.deepEqual(
        messages.map((message) => text(message.payload)),
        ["fourth"],
      );
    }),
  },
  {
    promise: 4,
    operation: "open",
    name: "Idempotent schedule: of a batch only what is neither there nor remembered is scheduled",
    run: onStage(async (stage) => {
      const queue = stage.harness.engine.open(stage.name, { rememberFor: hour });
      await queue.schedule([newMessage("gone"), newMessage("there", { due: { delay: hour } })]);
      await stage.queue.acknowledge((await stage.take()).receipts);
      const results = await queue.schedule(["new", "gone", "there", "new", "gone"].map((id) => newMessage(id)));
      assert.deepEqual(
        results.map(({ outcome }) => outcome),
        ["scheduled", "duplicate", "duplicate", "duplicate", "duplicate"],
      );
      assert.deepEqual((await stage.take()).ids, ["new"]);
    }),
  },
  {
    operation: "open",
    name: "What nobody asked to remember is free at once, and queues do not mix",
    run: onStage(async (stage) => {
      const neighbour = stage.harness.engine.open(`${stage.name}.x`, { rememberFor: hour });
      await neighbour.schedule([newMessage("a")]);
      await neighbour.cancel(["a"]);
      for (const _ of [1, 2]) {
        assert.equal((await stage.put("a")).outcome, "scheduled");
        assert.deepEqual(await stage.queue.cancel(["a"]), ["cancelled"]);
      }
    }),
  },
];
