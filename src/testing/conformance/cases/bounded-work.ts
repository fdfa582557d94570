import assert from "node:assert/strict";
import type { ConformanceCase } from "../conformance-case.js";
import { ids, newMessage, onStage, second } from "../stage.js";

const mebibyte = 2 ** 20;

export const boundedWorkCases: readonly ConformanceCase[] = [
  {
    promise: 9,
    operation: "claim",
    name: "Bounded server work: a claim gives at most 1,000 messages however many are asked for, and says that more is due",
    run: onStage(async (stage) => {
      const all = ids(3_000);
      await stage.queue.schedule(all.map((id) => newMessage(id)));
      const taken: string[] = [];
      while (taken.length < all.length) {
        const claim = await stage.take({ limit: 100_000 });
        assert.ok(claim.ids.length > 0, `nothing more after ${taken.length}`);
        assert.ok(claim.ids.length <= 1_000, `${claim.ids.length} in one claim`);
        taken.push(...claim.ids);
        if (taken.length < all.length) assert.ok(claim.nextAt <= claim.now, "more is due, and there is room");
      }
      assert.deepEqual(taken, all);
    }),
  },
  {
    promise: 9,
    operation: "claim",
    name: "Bounded server work: a claim gives about 1 MiB of payload at most, and one message at least",
    run: onStage(async (stage) => {
      const sizes = [mebibyte, 400_000, 400_000, 400_000, 3, mebibyte, mebibyte, 10];
      const all = ids(sizes.length);
      await stage.queue.schedule(
        sizes.map((size, index) => newMessage(`m-${index}`, { payload: new Uint8Array(size).fill(index) })),
      );
      const taken: string[] = [];
      while (taken.length < all.length) {
        const claim = await stage.take({ limit: 100 });
        assert.ok(claim.ids.length > 0, `nothing more after ${taken.length}`);
        const total = claim.messages.reduce((sum, message) => sum + message.payload.length, 0);
        assert.ok(claim.ids.length === 1 || total <= 1.5 * mebibyte, `${total} bytes in one claim`);
        if (taken.length + claim.ids.length < all.length) assert.ok(claim.nextAt <= claim.now, "more is due");
        for (const message of claim.messages) assert.equal(message.payload.length, sizes[all.indexOf(message.id)]);
        taken.push(...claim.ids);
      }
      assert.deepEqual(taken, all);
    }),
  },
  {
    promise: 9,
    operation: "claim",
    name: "Bounded server work: 20,000 leases that end at once are reclaimed by and by, each with one attempt used",
    run: onStage(async (stage) => {
      const all = ids(20_000);
      await stage.queue.schedule(all.map((id) => newMessage(id)));
      const held = await stage.takeAll(all.length, { lease: 3 * second, from: stage.otherQueue });
      assert.equal(held.flatMap((claim) => claim.ids).length, all.length);
      const last = Math.max(...held.map((claim) => claim.leaseUntil));
      await stage.reach(last + 1);
      const attempts = new Map<string, number>();
      while (attempts.size < all.length) {
        const claim = await stage.take({ limit: 1_000 });
        for (const message of claim.messages) {
          assert.ok(!attempts.has(message.id), `${message.id} was claimed twice`);
          attempts.set(message.id, message.attempt);
        }
        if (attempts.size < all.length) assert.ok(claim.nextAt <= claim.now, "more is due, and there is room");
      }
      assert.ok([...attempts.values()].every((attempt) => attempt === 2));
    }),
  },
  {
    promise: 9,
    operation: "list",
    name: "Bounded server work: 20,000 messages whose leases have ended are listed in pages of 1,000, in order, each once, while they are reclaimed",
    run: onStage(async (stage) => {
      const all = ids(20_000);
      await stage.queue.schedule(all.map((id) => newMessage(id)));
      const held = await stage.takeAll(all.length, { lease: 3 * second, from: stage.otherQueue });
      const last = Math.max(...held.map((claim) => claim.leaseUntil));
      await stage.reach(last + 1);
      const listed = await stage.listed({ state: "due", limit: 1_000 }, () => stage.take({ limit: 0 }));
      assert.deepEqual(listed, all);
    }),
  },
];
