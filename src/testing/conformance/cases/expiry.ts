import assert from "node:assert/strict";
import type { ConformanceCase } from "../conformance-case.js";
import { hour, onStage, second, text } from "../stage.js";

export const expiryCases: readonly ConformanceCase[] = [
  {
    promise: 6,
    operation: "claim",
    name: "Nothing is dropped silently: an expired message is buried with reason expired instead of delivered",
    run: onStage(async (stage) => {
      const { dueAt } = await stage.put("a", { due: { delay: 50 }, expiresIn: 100, headers: { kept: "yes" } });
      await stage.put("b");
      await stage.harness.elapse(250);
      const claim = await stage.take();
      assert.deepEqual(claim.ids, ["b"], "those that have not expired are delivered beside it");
      assert.deepEqual(
        claim.buried.map(({ id, reason }) => [id, reason]),
        [["a", "expired"]],
      );
      const message = await stage.read("a");
      assert.deepEqual(
        [message.state, text(message.payload), message.attempt, message.dueAt, message.buried?.reason],
        ["dead", "payload of a", 0, dueAt, "expired"],
      );
      assert.deepEqual({ ...message.headers }, { kept: "yes" });
    }),
  },
  {
    operation: "claim",
    name: "An expired message is not delivered, and the claim says so beside those that have not expired",
    run: onStage(async (stage) => {
      await stage.put("a", { due: { delay: 50 }, expiresIn: 100 });
      await stage.put("b");
      await stage.harness.elapse(250);
      const claim = await stage.take();
      assert.deepEqual(claim.ids, ["b"]);
      assert.deepEqual(
        claim.buried.map(({ id, reason }) => [id, reason]),
        [["a", "expired"]],
      );
      assert.deepEqual((await stage.take()).ids, []);
    }),
  },
  {
    operation: "claim",
    name: "A message that is claimed before it expires is delivered, and can be settled after it",
    run: onStage(async (stage) => {
      await stage.put("a", { expiresIn: 2 * second });
      const { ids, receipts } = await stage.take();
      assert.deepEqual(ids, ["a"]);
      await stage.harness.elapse(2 * second + 20);
      assert.deepEqual(await stage.queue.acknowledge(receipts), ["settled"]);
    }),
  },
  {
    operation: "claim",
    name: "The expiry counts from the due time that was given, not from that of a retry",
    run: onStage(async (stage) => {
      await stage.put("a", { expiresIn: second });
      const { receipts } = await stage.take();
      await stage.queue.retry(receipts.map((receipt) => ({ ...receipt, delay: second + 100 })));
      await stage.harness.elapse(second + 150);
      const claim = await stage.take();
      assert.deepEqual(claim.ids, []);
      assert.deepEqual(
        claim.buried.map(({ id, reason }) => [id, reason]),
        [["a", "expired"]],
      );
    }),
  },
  {
    promise: 6,
    operation: "claim",
    name: "Nothing is dropped silently: a message that failed and then expired is dead, with the attempt that it used",
    run: onStage(async (stage) => {
      await stage.put("a", { expiresIn: 200 });
      const { receipts } = await stage.take();
      await stage.queue.retry(receipts.map((receipt) => ({ ...receipt, delay: 250 })));
      await stage.harness.elapse(300);
      assert.deepEqual((await stage.take()).ids, []);
      const { state, attempt, buried } = await stage.read("a");
      assert.deepEqual([state, attempt, buried?.reason], ["dead", 1, "expired"]);
    }),
  },
  {
    operation: "schedule",
    name: "A message that is replaced has the expiry that it was replaced with",
    run: onStage(async (stage) => {
      await stage.put("longer", { expiresIn: 50 });
      await stage.put("none", { expiresIn: 50 });
      await stage.put("longer", { expiresIn: hour, onDuplicate: "replace" });
      await stage.put("none", { onDuplicate: "replace" });
      await stage.harness.elapse(100);
      assert.deepEqual((await stage.take()).ids, ["longer", "none"]);
    }),
  },
];
