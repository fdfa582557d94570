import assert from "node:assert/strict";
import type { ConformanceCase } from "../conformance-case.js";
import { bring } from "../situations.js";
import type { Stage } from "../stage.js";
import { hour, ids, minute, newMessage, onStage, second } from "../stage.js";

/** One message in each state, and one of each kind whose lease has ended. */
async function fill(stage: Stage): Promise<void> {
  await bring(stage, "dead", "dead");
  await bring(stage, "leased", "leased");
  await stage.queue.schedule([newMessage("ended"), newMessage("exhausted", { attempts: 1 })]);
  await stage.take({ lease: second });
  await stage.harness.elapse(second + 20);
  await bring(stage, "due", "due");
  await bring(stage, "scheduled", "scheduled");
}

/** A purge under way, which is awaited later: where it is refused nobody is to hear of it, or wait for it, before that. */
function beginning(purging: Promise<number>): { readonly purging: Promise<number>; done: boolean } {
  const begun = { purging, done: false };
  const end = () => void (begun.done = true);
  purging.then(end, end);
  return begun;
}

export const purgeCases: readonly ConformanceCase[] = [
  {
    operation: "purge",
    name: "Purging what waits deletes what is scheduled or due and frees its ids, and leaves what is leased to its holder",
    run: onStage(async (stage) => {
      await bring(stage, "leased", "leased");
      await bring(stage, "due", "due");
      const { receipts } = await stage.take({ limit: 1 });
      await bring(stage, "later", "due");
      await bring(stage, "scheduled", "scheduled");
      assert.equal(await stage.otherQueue.purge("waiting"), 2);
      assert.equal(await stage.queue.purge("waiting"), 0);
      assert.deepEqual((await stage.take()).ids, []);
      assert.deepEqual(await stage.queue.acknowledge(receipts), ["settled"]);
      for (const id of ["later", "scheduled"]) assert.equal((await stage.put(id)).outcome, "scheduled");
      assert.deepEqual((await stage.take()).ids.toSorted(), ["later", "scheduled"]);
    }),
  },
  {
    promise: 9,
    operation: "purge",
    name: "Bounded server work: 20,000 messages that wait are purged in one call, and what is scheduled afterwards stays",
    run: onStage(async (stage) => {
      await stage.queue.schedule(ids(20_000).map((id) => newMessage(id, { due: { delay: hour } })));
      assert.equal(await stage.queue.purge("waiting"), 20_000);
      await stage.put("late");
      const { scheduled, due } = await stage.otherQueue.counts();
      assert.deepEqual([scheduled, due], [0, 1]);
    }),
  },
  {
    promise: 2,
    operation: "purge",
    name: "At least once: purging what waits deletes what is scheduled or due, and nothing that is leased or dead",
    run: onStage(async (stage) => {
      await fill(stage);
      assert.equal(await stage.otherQueue.purge("waiting"), 3);
      const { scheduled, due, leased, dead } = await stage.queue.counts();
      assert.deepEqual([scheduled, due, leased, dead], [0, 0, 1, 2]);
      assert.deepEqual((await stage.take()).ids, []);
      assert.equal(await stage.queue.purge("waiting"), 0);
      assert.equal((await stage.put("due")).outcome, "scheduled", "its id is free again");
      assert.equal((await stage.queue.audit()).ok, true);
    }),
  },
  {
    promise: 2,
    operation: "purge",
    name: "At least once: purging the dead letters deletes these, and nothing else",
    run: onStage(async (stage) => {
      await fill(stage);
      assert.equal(await stage.otherQueue.purge("dead"), 2);
      const { scheduled, due, leased, dead } = await stage.queue.counts();
      assert.deepEqual([scheduled, due, leased, dead], [1, 2, 1, 0]);
      assert.equal(await stage.queue.purge("dead"), 0);
      assert.deepEqual((await stage.take()).ids, ["ended", "due"]);
      assert.equal((await stage.queue.audit()).ok, true);
    }),
  },
  {
    promise: 9,
    operation: "purge",
    name: "Bounded server work: 20,000 messages are purged in one call, and what is scheduled after it began stays",
    run: onStage(async (stage) => {
      const all = ids(20_000);
      await stage.queue.schedule(all.map((id) => newMessage(id, { due: { delay: hour } })));
      const waiting = async () => (await stage.otherQueue.counts()).scheduled;
      const begun = beginning(stage.queue.purge("waiting"));
      while (!begun.done && (await waiting()) === all.length);
      // Before and behind all others, at their own due time, and under an id that was purged perhaps.
      const late = ["before", "behind", "m-19999", "m-0"];
      const delays = [minute, 2 * hour, hour, hour];
      const results = await stage.otherQueue.schedule(
        late.map((id, index) => newMessage(id, { due: { delay: delays[index] ?? hour }, onDuplicate: "replace" })),
      );
      const replaced = results.filter(({ outcome }) => outcome === "replaced").length;
      assert.equal((await begun.purging) + replaced, all.length);
      assert.deepEqual((await stage.listed({ state: "scheduled" })).toSorted(), late.toSorted());
    }),
  },
  {
    promise: 9,
    operation: "purge",
    name: "Bounded server work: 5,000 dead letters are purged in one call, and what is buried after it began stays",
    run: onStage(async (stage) => {
      assert.equal(await stage.queue.purge("dead"), 0, "there are none yet");
      await stage.buryAll(ids(5_000));
      await stage.harness.elapse(5);
      const begun = beginning(stage.queue.purge("dead"));
      while (!begun.done && (await stage.otherQueue.counts()).dead === 5_000);
      await stage.buryAll(["late"]);
      assert.equal(await begun.purging, 5_000);
      assert.deepEqual(await stage.listed({ state: "dead" }), ["late"]);
    }),
  },
  {
    operation: "purge",
    name: "While others claim, each message is either purged or delivered, never both",
    run: onStage(async (stage) => {
      const all = ids(3_000);
      await stage.queue.schedule(all.map((id) => newMessage(id)));
      const [purged, ...claims] = await Promise.all([
        stage.queue.purge("waiting"),
        ...ids(10).map(() => stage.take({ from: stage.otherQueue, limit: 20 })),
      ]);
      const rest = await stage.takeAll(all.length);
      assert.deepEqual(
        rest.flatMap((claim) => claim.ids),
        [],
      );
      const delivered = claims.flatMap((claim) => claim.ids);
      assert.equal(purged + delivered.length, all.length);
      const settled = await stage.otherQueue.acknowledge(claims.flatMap((claim) => claim.receipts));
      assert.ok(settled.every((answer) => answer === "settled"));
    }),
  },
];
