import assert from "node:assert/strict";
import type { ConformanceCase } from "../conformance-case.js";
import { Recorder, textQueue } from "../recorder.js";
import type { Stage } from "../stage.js";
import { hour, ids, minute, newMessage, onStage, second } from "../stage.js";

async function expectHealthy(stage: Stage, after: string): Promise<number> {
  const { ok, problems, checked } = await stage.otherQueue.audit();
  assert.deepEqual({ after, ok, problems }, { after, ok: true, problems: [] });
  return checked;
}

/** Every operation that changes something, each on messages of its own. Each is handed the receipts of `m-0`, `m-1` … */
const operations: Readonly<Record<string, (stage: Stage) => Promise<unknown>>> = {
  "a claim": (stage) => stage.take({ limit: 3 }),
  "an acknowledgement": async (stage) => stage.queue.acknowledge((await stage.take()).receipts),
  "a retry": async (stage) => stage.queue.retry((await stage.take()).receipts.map((one) => ({ ...one, delay: 0 }))),
  "a last retry": async (stage) =>
    stage.queue.retry((await stage.take({ attempts: 1 })).receipts.map((one) => ({ ...one, delay: 0 }))),
  "a release": async (stage) => stage.queue.release((await stage.take()).receipts),
  "a release with a delay": async (stage) =>
    stage.queue.release((await stage.take()).receipts.map((one) => ({ ...one, delay: hour }))),
  "a burial": async (stage) =>
    stage.queue.bury((await stage.take()).receipts.map((one) => ({ ...one, reason: "poison" }))),
  "an extension": async (stage) => stage.queue.extend((await stage.take()).receipts, hour),
  "a cancellation": (stage) => stage.queue.cancel(ids(3)),
  "a reschedule": (stage) => stage.queue.reschedule(ids(3).map((id) => ({ id, due: { delay: hour } }))),
  "a replacement": (stage) => stage.queue.schedule(ids(3).map((id) => newMessage(id, { onDuplicate: "replace" }))),
  "a replacement of dead letters": async (stage) => {
    await operations["a burial"]?.(stage);
    await stage.queue.schedule(ids(3).map((id) => newMessage(id, { onDuplicate: "replace" })));
  },
  "a revival": async (stage) => {
    await operations["a burial"]?.(stage);
    await stage.queue.revive(ids(3), { delay: hour });
  },
  "a removal": async (stage) => {
    await operations["a burial"]?.(stage);
    await stage.queue.remove(ids(3));
  },
  "a purge": (stage) => stage.queue.purge("waiting"),
  "a purge of dead letters": async (stage) => {
    await operations["a burial"]?.(stage);
    await stage.queue.purge("dead");
  },
  "leases ended": async (stage) => {
    await stage.take({ lease: second, limit: 3 });
    await stage.take({ lease: second, attempts: 1 });
    await stage.harness.elapse(second + 20);
  },
  "a reclaim": async (stage) => {
    await operations["leases ended"]?.(stage);
    await expectHealthy(stage, "leases ended");
    await stage.take({ limit: 2 });
  },
  "touching leases that have ended": async (stage) => {
    await operations["leases ended"]?.(stage);
    await stage.queue.reschedule(["m-0", "m-3"].map((id) => ({ id, due: { delay: 0 } })));
    await stage.queue.cancel(["m-1", "m-4"]);
    await stage.put("m-2", { onDuplicate: "replace" });
    await stage.queue.revive(["m-5"], { delay: 0 });
    await stage.queue.remove(["m-6"]);
  },
};

const operationCases = Object.entries(operations).map(([after, operate]): ConformanceCase => {
  return {
    promise: 13,
    operation: "audit",
    name: `No orphans: an audit finds none after ${after}`,
    run: onStage(async (stage) => {
      await stage.queue.schedule(ids(8).map((id) => newMessage(id)));
      await operate(stage);
      await expectHealthy(stage, after);
      const { scheduled, due, leased, dead } = await stage.queue.counts();
      const listed = await Promise.all(
        (["scheduled", "due", "leased", "dead"] as const).map((state) => stage.listed({ state })),
      );
      assert.deepEqual(
        listed.map((messages) => messages.length),
        [scheduled, due, leased, dead],
        "the list of each state is as long as its count",
      );
      assert.equal(new Set(listed.flat()).size, listed.flat().length, "no message is in two states");
    }),
  };
});

export const auditCases: readonly ConformanceCase[] = [
  ...operationCases,
  {
    promise: 13,
    operation: "audit",
    name: "No orphans: an audit finds none in an empty queue, and looks at each message of a full one",
    run: onStage(async (stage) => {
      assert.equal(await expectHealthy(stage, "nothing"), 0);
      await stage.queue.schedule(ids(3_000).map((id) => newMessage(id, { due: { delay: hour } })));
      await stage.buryAll(ids(500, "dead"));
      const checked = await expectHealthy(stage, "filling");
      assert.ok(checked >= 3_500, `${checked} looked at`);
    }),
  },
  {
    promise: 13,
    operation: "audit",
    name: "No orphans: audits while producers and consumers are at work find none, and none afterwards",
    run: onStage(async (stage) => {
      const queue = textQueue(stage);
      const recorder = new Recorder(stage);
      const failing = (id: string) => Number(id.slice(2)) % 3 === 0;
      for (const engine of [stage.harness.engine, stage.harness.other]) {
        recorder.consume({
          engine,
          concurrency: 20,
          retry: { attempts: 2, backoff: () => 1 },
          work: (delivery) => {
            if (failing(delivery.id)) throw new Error("no use");
          },
        });
      }
      const all = ids(900);
      for (let from = 0; from < all.length; from += 90) {
        const part = all.slice(from, from + 90);
        const working = Promise.all([
          queue.scheduleMany(part.map((id) => ({ id, payload: id, delay: Number(id.slice(2)) % 7 }))),
          stage.queue.cancel(part.filter((_, index) => index % 11 === 0)),
          stage.otherQueue.list({ state: "due", limit: 50 }),
          expectHealthy(stage, `${from} messages`),
        ]);
        await stage.passing(working, `${from} messages are scheduled`);
        const [dead] = (await stage.queue.list({ state: "dead", limit: 1 })).messages;
        if (dead !== undefined) await stage.queue.remove([dead.id]);
      }
      const rest = async () => {
        const { scheduled, due, leased } = await stage.queue.counts();
        return scheduled + due + leased === 0;
      };
      await stage.harness.until(rest, "all are handled or dead", 10 * second);
      const { dead } = await stage.queue.counts();
      assert.ok(dead > 0 && (await expectHealthy(stage, "all")) >= dead);
    }),
  },
  {
    promise: 13,
    operation: "repair",
    name: "No orphans: a repair touches nothing where nothing is broken",
    run: onStage(async (stage) => {
      await stage.buryAll(["dead"]);
      await stage.queue.schedule([
        ...ids(5).map((id) => newMessage(id)),
        newMessage("later", { due: { delay: hour } }),
      ]);
      const { receipts } = await stage.take({ limit: 2, lease: minute });
      const all = [...ids(5), "later", "dead"];
      const before = await stage.queue.get(all);
      const { ok, problems, checked } = await stage.otherQueue.repair();
      assert.deepEqual({ ok, problems }, { ok: true, problems: [] });
      assert.ok(checked >= all.length);
      assert.deepEqual(await stage.queue.get(all), before);
      assert.deepEqual(await stage.queue.acknowledge(receipts), ["settled", "settled"]);
      assert.deepEqual((await stage.take()).ids, ["m-2", "m-3", "m-4"]);
    }),
  },
];
