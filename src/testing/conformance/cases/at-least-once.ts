import assert from "node:assert/strict";
import type { ConformanceCase } from "../conformance-case.js";
import { ids, newMessage, onStage, second, text } from "../stage.js";

export const atLeastOnceCases: readonly ConformanceCase[] = [
  {
    promise: 2,
    operation: "claim",
    name: "At least once: a message whose holder says nothing comes again after each lease, until it is acknowledged",
    run: onStage(async (stage) => {
      await stage.put("a");
      for (const attempt of [1, 2, 3]) {
        const { messages } = await stage.take({ lease: second });
        assert.deepEqual(
          messages.map((message) => [message.id, message.attempt, text(message.payload)]),
          [["a", attempt, "payload of a"]],
        );
        await stage.harness.elapse(second + 20);
      }
      const { receipts } = await stage.take({ lease: second });
      assert.deepEqual(await stage.queue.acknowledge(receipts), ["settled"]);
      await stage.harness.elapse(second + 20);
      assert.deepEqual((await stage.take()).ids, []);
      assert.equal(await stage.find("a"), undefined);
    }),
  },
  {
    promise: 2,
    operation: "schedule",
    name: "At least once: what one process scheduled another one claims, each message, none twice",
    run: onStage(async (stage) => {
      const all = ids(2_500);
      const results = await stage.queue.schedule(all.map((id) => newMessage(id)));
      assert.ok(results.every((result) => result.outcome === "scheduled"));
      const claims = await stage.takeAll(all.length, { from: stage.otherQueue });
      assert.deepEqual(
        claims.flatMap((claim) => claim.ids),
        all,
      );
      const settled = await stage.otherQueue.acknowledge(claims.flatMap((claim) => claim.receipts));
      assert.equal(settled.length, all.length);
      assert.ok(settled.every((settlement) => settlement === "settled"));
      const { scheduled, due, leased, dead } = await stage.queue.counts();
      assert.deepEqual([scheduled, due, leased, dead], [0, 0, 0, 0]);
    }),
  },
  {
    promise: 2,
    operation: "open",
    name: "At least once: a queue that is opened again holds what was scheduled, and queues do not mix",
    run: onStage(async (stage) => {
      const { engine } = stage.harness;
      await stage.put("a");
      const neighbours = [`${stage.name}.x`, `${stage.name}:wake`, `${stage.name}-2`];
      for (const name of neighbours) {
        const neighbour = engine.open(name);
        assert.equal((await neighbour.counts()).due, 0);
        await neighbour.schedule([newMessage("a", { due: { delay: 60_000 } })]);
        assert.equal((await neighbour.counts()).scheduled, 1);
      }
      const again = engine.open(stage.name);
      assert.deepEqual((await stage.take({ from: again })).ids, ["a"]);
    }),
  },
];
