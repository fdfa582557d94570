import assert from "node:assert/strict";
import type { EngineQueue, Receipt } from "../../../engine.js";
import type { ConformanceCase } from "../conformance-case.js";
import { hour, ids, minute, newMessage, onStage, second } from "../stage.js";

/** Every operation that needs a lease, answering with outcomes alone. */
const settling: Readonly<Record<string, (queue: EngineQueue, receipts: readonly Receipt[]) => Promise<string[]>>> = {
  acknowledge: (queue, receipts) => queue.acknowledge(receipts),
  retry: (queue, receipts) => queue.retry(receipts.map((receipt) => ({ ...receipt, delay: hour }))),
  release: (queue, receipts) => queue.release(receipts.map((receipt) => ({ ...receipt, delay: hour }))),
  bury: (queue, receipts) => queue.bury(receipts.map((receipt) => ({ ...receipt, reason: "stale" }))),
  extend: async (queue, receipts) => (await queue.extend(receipts, hour)).map((extension) => extension.outcome),
};
const operations = ["acknowledge", "retry", "release", "bury", "extend"] as const;

const staleTokenCases = operations.map((operation): ConformanceCase => ({
  promise: 3,
  operation,
  name: `One lease at a time: ${operation} with a lease that was reclaimed gets lease-lost and changes nothing`,
  run: onStage(async (stage) => {
    await stage.put("a", { headers: { kept: "yes" } });
    const stale = await stage.take({ lease: second });
    await stage.harness.elapse(second + 20);
    const fresh = await stage.take({ from: stage.otherQueue });
    assert.deepEqual(fresh.ids, ["a"]);
    assert.deepEqual(await settling[operation]?.(stage.queue, stale.receipts), ["lease-lost"]);
    assert.deepEqual(await stage.otherQueue.acknowledge(fresh.receipts), ["settled"]);
    assert.deepEqual(await settling[operation]?.(stage.queue, stale.receipts), ["lease-lost"]);
    assert.deepEqual((await stage.take()).ids, [], "nothing has come back");
  }),
}));

const staleReadCases = operations.map((operation): ConformanceCase => ({
  promise: 3,
  operation,
  name: `One lease at a time: after ${operation} with a lease that was reclaimed the message is read as before`,
  run: onStage(async (stage) => {
    await stage.put("a", { headers: { kept: "yes" } });
    const stale = await stage.take({ lease: second });
    await stage.harness.elapse(second + 20);
    const fresh = await stage.take({ from: stage.otherQueue });
    assert.deepEqual(fresh.ids, ["a"]);
    const before = await stage.find("a");
    assert.deepEqual(await settling[operation]?.(stage.queue, stale.receipts), ["lease-lost"]);
    assert.deepEqual(await stage.find("a"), before);
    await stage.otherQueue.acknowledge(fresh.receipts);
    assert.deepEqual(await settling[operation]?.(stage.queue, stale.receipts), ["lease-lost"]);
    assert.equal(await stage.find("a"), undefined);
  }),
}));

const settledTokenCases = operations.slice(0, 4).map((first): ConformanceCase => ({
  promise: 3,
  operation: first,
  name: `One lease at a time: a lease that ended by ${first} cannot be used again for anything`,
  run: onStage(async (stage) => {
    await stage.put("a");
    const { receipts } = await stage.take();
    assert.deepEqual(await settling[first]?.(stage.queue, receipts), ["settled"]);
    for (const operation of operations) {
      assert.deepEqual(
        await settling[operation]?.(stage.queue, receipts),
        ["lease-lost"],
        `${operation} after ${first}`,
      );
    }
    assert.deepEqual((await stage.take()).ids, [], "nothing has come back");
  }),
}));

const settledReadCases = operations.slice(0, 4).map((first): ConformanceCase => ({
  promise: 3,
  operation: first,
  name: `One lease at a time: using a lease that ended by ${first} changes nothing that can be read`,
  run: onStage(async (stage) => {
    await stage.put("a");
    const { receipts } = await stage.take();
    assert.deepEqual(await settling[first]?.(stage.queue, receipts), ["settled"]);
    const before = await stage.find("a");
    for (const operation of operations) {
      await settling[operation]?.(stage.queue, receipts);
      assert.deepEqual(await stage.find("a"), before, `${operation} after ${first} changes nothing`);
    }
  }),
}));

export const leaseCases: readonly ConformanceCase[] = [
  {
    promise: 3,
    operation: "claim",
    name: "One lease at a time: two processes that claim at the same moment share out what is due, none twice",
    run: onStage(async (stage) => {
      const all = ids(210);
      await stage.queue.schedule(all.map((id) => newMessage(id)));
      const claims = await Promise.all(
        all.map((_, index) => {
          const from = index % 2 === 0 ? stage.queue : stage.otherQueue;
          return stage.take({ limit: 3, from, consumer: `racer-${index}` });
        }),
      );
      const taken = claims.flatMap((claim) => claim.ids);
      assert.equal(new Set(taken).size, taken.length, "a message was claimed twice");
      assert.deepEqual(taken.toSorted(), all.toSorted());
    }),
  },
  {
    promise: 3,
    operation: "claim",
    name: "One lease at a time: while its lease lasts a message is claimed by nobody else, and then settled by its holder",
    run: onStage(async (stage) => {
      await stage.put("a");
      const { receipts } = await stage.take({ lease: minute });
      await stage.harness.elapse(second / 2);
      for (const from of [stage.otherQueue, stage.queue]) assert.deepEqual((await stage.take({ from })).ids, []);
      assert.deepEqual(await stage.queue.acknowledge(receipts), ["settled"]);
    }),
  },
  {
    promise: 3,
    operation: "claim",
    name: "One lease at a time: a leased message is claimed by nobody else until its lease ends",
    run: onStage(async (stage) => {
      await stage.put("a");
      const { leaseUntil } = await stage.take({ lease: second });
      // Whenever a busy machine lets them come: what counts is the time of the claim that gets it.
      let claim = await stage.take({ from: stage.otherQueue });
      for (let waited = 0; claim.ids.length === 0 && waited < 5 * second; waited += second / 4) {
        await stage.harness.elapse(second / 4);
        claim = await stage.take({ from: stage.otherQueue });
      }
      assert.deepEqual(claim.ids, ["a"]);
      assert.ok(claim.now >= leaseUntil, `claimed ${leaseUntil - claim.now} ms before the lease ended`);
    }),
  },
  {
    promise: 3,
    operation: "extend",
    name: "One lease at a time: extend moves the deadline to now plus the lease, and nobody else claims before it",
    run: onStage(async (stage) => {
      await stage.put("a");
      const { receipts, leaseUntil } = await stage.take({ lease: 4 * second });
      await stage.harness.elapse(second / 2);
      const before = await stage.now();
      const [extension] = await stage.queue.extend(receipts, minute);
      assert.ok(extension?.outcome === "extended");
      assert.ok(extension.leaseUntil >= before + minute - 1, "the deadline counts from now");
      await stage.reach(leaseUntil + 1);
      assert.deepEqual((await stage.take({ from: stage.otherQueue })).ids, []);
      assert.deepEqual(await stage.queue.acknowledge(receipts), ["settled"]);
    }),
  },
  {
    operation: "extend",
    name: "The deadline of a lease that was extended is read as extend answered it",
    run: onStage(async (stage) => {
      await stage.put("a");
      const { receipts } = await stage.take();
      const [extension] = await stage.queue.extend(receipts, hour);
      assert.ok(extension?.outcome === "extended");
      const { state, attempt, leaseUntil } = await stage.read("a");
      assert.deepEqual([state, attempt, leaseUntil], ["leased", 1, extension.leaseUntil]);
    }),
  },
  {
    promise: 3,
    operation: "extend",
    name: "One lease at a time: of several leases those are extended that have not ended, and the others settle nothing",
    run: onStage(async (stage) => {
      await stage.queue.schedule(["ended", "held"].map((id) => newMessage(id)));
      const { ids: taken, receipts, leaseUntil } = await stage.take({ lease: 4 * second });
      const ended = receipts[taken.indexOf("ended")];
      const held = receipts[taken.indexOf("held")];
      assert.ok(ended !== undefined && held !== undefined);
      await stage.queue.extend([held], hour);
      await stage.reach(leaseUntil + 20);
      const outcomes = (await stage.queue.extend([ended, held, ended], hour)).map(({ outcome }) => outcome);
      assert.deepEqual(outcomes, ["lease-lost", "extended", "lease-lost"]);
      assert.deepEqual(await stage.queue.acknowledge([held]), ["settled"]);
    }),
  },
  {
    promise: 3,
    operation: "extend",
    name: "One lease at a time: a lease whose deadline has passed cannot be extended, though nobody has reclaimed it",
    run: onStage(async (stage) => {
      await stage.queue.schedule(["ended", "held"].map((id) => newMessage(id)));
      const ended = await stage.take({ lease: second, limit: 1 });
      const held = await stage.take({ limit: 1 });
      await stage.harness.elapse(second + 20);
      const receipts = [...ended.receipts, ...held.receipts, ...ended.receipts];
      const outcomes = (await stage.queue.extend(receipts, hour)).map(({ outcome }) => outcome);
      assert.deepEqual(outcomes, ["lease-lost", "extended", "lease-lost"]);
      const { state, dueAt } = await stage.read("ended");
      assert.deepEqual([state, dueAt], ["due", ended.leaseUntil]);
      assert.deepEqual((await stage.take({ from: stage.otherQueue })).ids, ["ended"]);
      assert.deepEqual(await stage.queue.acknowledge(held.receipts), ["settled"]);
    }),
  },
  ...staleTokenCases,
  ...staleReadCases,
  ...settledTokenCases,
  ...settledReadCases,
  {
    promise: 3,
    operation: "acknowledge",
    name: "One lease at a time: a foreign token and an unknown id get lease-lost from every operation",
    run: onStage(async (stage) => {
      await stage.put("leased");
      const { receipts, leaseUntil } = await stage.take();
      await stage.put("due");
      await stage.put("scheduled", { due: { delay: hour } });
      const strange = ["leased", "due", "scheduled", "absent"].map((id) => ({ id, token: "foreign", leaseUntil }));
      for (const operation of operations) {
        const outcomes = await settling[operation]?.(stage.queue, strange);
        assert.deepEqual(outcomes, ["lease-lost", "lease-lost", "lease-lost", "lease-lost"], operation);
      }
      assert.deepEqual(await stage.queue.acknowledge(receipts), ["settled"]);
      assert.deepEqual((await stage.take()).ids, ["due"], "the others are where they were");
    }),
  },
  {
    promise: 3,
    operation: "get",
    name: "One lease at a time: a foreign token changes nothing that can be read, whatever it is used for",
    run: onStage(async (stage) => {
      await stage.put("leased");
      const { leaseUntil } = await stage.take();
      await stage.put("due");
      await stage.put("scheduled", { due: { delay: hour } });
      const all = ["leased", "due", "scheduled", "absent"];
      const before = await stage.queue.get(all);
      const strange = all.map((id) => ({ id, token: "foreign", leaseUntil }));
      for (const operation of operations) await settling[operation]?.(stage.queue, strange);
      assert.deepEqual(await stage.queue.get(all), before);
    }),
  },
  {
    promise: 3,
    operation: "acknowledge",
    name: "One lease at a time: a batch is answered in its order, and a receipt given twice settles once",
    run: onStage(async (stage) => {
      await stage.queue.schedule(ids(3).map((id) => newMessage(id)));
      const [a, b, c] = (await stage.take({ lease: minute })).receipts;
      assert.ok(a !== undefined && b !== undefined && c !== undefined);
      const stale = { ...b, token: "foreign" };
      assert.deepEqual(await stage.queue.acknowledge([c, stale, a, a]), [
        "settled",
        "lease-lost",
        "settled",
        "lease-lost",
      ]);
      assert.deepEqual(await stage.queue.acknowledge([b]), ["settled"], "the foreign token left it to its holder");
    }),
  },
];
