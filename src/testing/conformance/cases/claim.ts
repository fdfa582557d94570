import assert from "node:assert/strict";
import type { ConformanceCase } from "../conformance-case.js";
import { hour, ids, minute, newMessage, onStage, second, text } from "../stage.js";

export const claimCases: readonly ConformanceCase[] = [
  {
    operation: "claim",
    name: "A claim with limit 0 takes nothing, and one with a limit takes no more than that",
    run: onStage(async (stage) => {
      await stage.queue.schedule(ids(5).map((id) => newMessage(id)));
      assert.deepEqual((await stage.take({ limit: 0 })).ids, []);
      assert.equal((await stage.queue.counts()).due, 5);
      assert.deepEqual((await stage.take({ limit: 2 })).ids, ["m-0", "m-1"]);
      assert.deepEqual((await stage.take({ limit: 1 })).ids, ["m-2"]);
      assert.deepEqual((await stage.take({ limit: 100 })).ids, ["m-3", "m-4"]);
    }),
  },
  {
    operation: "claim",
    name: "A claim says all about a message: payload, due time, attempt, attempts at most and headers",
    run: onStage(async (stage) => {
      const headers = { traceparent: "00-abc-def-01", "x y": 'ä \u{1F389} \n "' };
      const plain = await stage.put("plain");
      const rich = await stage.put("rich", { attempts: 3, headers });
      const claim = await stage.take({ attempts: 7 });
      assert.ok(Math.abs(claim.leaseUntil - (claim.now + minute)) <= 1, "the lease is as long as asked for");
      assert.deepEqual(claim.missing, []);
      assert.deepEqual(claim.buried, []);
      // In whatever order: they may be due at the same time.
      const [first, next] = ["plain", "rich"].map((id) => claim.messages.find((message) => message.id === id));
      assert.ok(first !== undefined && next !== undefined);
      assert.equal(text(first.payload), "payload of plain");
      assert.deepEqual([first.dueAt, first.attempt, first.attempts], [plain.dueAt, 1, 7]);
      assert.deepEqual({ ...first.headers }, {});
      assert.deepEqual([next.dueAt, next.attempt, next.attempts], [rich.dueAt, 1, 3]);
      assert.deepEqual({ ...next.headers }, headers);
    }),
  },
  {
    promise: 3,
    operation: "claim",
    name: "One lease at a time: a claim that is repeated with its token gets the same leases and no others",
    run: onStage(async (stage) => {
      await stage.queue.schedule(ids(6).map((id) => newMessage(id)));
      const first = await stage.take({ limit: 3 });
      assert.deepEqual(first.ids, ["m-0", "m-1", "m-2"]);
      const again = await stage.take({ limit: 3, token: first.token });
      assert.equal(again.leaseUntil, first.leaseUntil);
      assert.deepEqual(
        again.messages.map((message) => [message.id, message.attempt, message.dueAt, text(message.payload)]),
        first.messages.map((message) => [message.id, message.attempt, message.dueAt, text(message.payload)]),
      );
      assert.deepEqual((await stage.take()).ids, ["m-3", "m-4", "m-5"]);
      assert.deepEqual(await stage.queue.acknowledge(again.receipts), ["settled", "settled", "settled"]);
    }),
  },
  {
    promise: 3,
    operation: "claim",
    name: "One lease at a time: a repeated claim leaves out what was settled since",
    run: onStage(async (stage) => {
      await stage.queue.schedule(ids(3).map((id) => newMessage(id)));
      const first = await stage.take();
      await stage.queue.acknowledge(first.receipts.slice(1, 2));
      const again = await stage.take({ token: first.token });
      assert.deepEqual(again.ids, ["m-0", "m-2"]);
    }),
  },
  {
    operation: "claim",
    name: "A claim says when to come back: at once while more is due, at the next due time, else within the poll",
    run: onStage(async (stage) => {
      const empty = await stage.take();
      assert.ok(empty.nextAt > empty.now, "an empty queue is no reason to claim again at once");
      assert.ok(empty.nextAt <= empty.now + 10 * second, "without a next time it polls");
      await stage.put("far", { due: { delay: hour } });
      await stage.queue.schedule(ids(3).map((id) => newMessage(id)));
      const full = await stage.take({ limit: 2 });
      assert.ok(full.nextAt <= full.now, "a full consumer claims as soon as it has room");
      const rest = await stage.take({ limit: 2 });
      assert.deepEqual(rest.ids, ["m-2"]);
      assert.ok(rest.nextAt > rest.now, "nothing more is due");
      const { dueAt } = await stage.put("near", { due: { delay: 2 * second } });
      const alone = await stage.take();
      assert.ok(alone.nextAt > alone.now && alone.nextAt <= dueAt, "the only consumer comes in time for the next");
    }),
  },
];
