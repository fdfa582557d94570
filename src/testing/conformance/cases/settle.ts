import assert from "node:assert/strict";
import type { ConformanceCase } from "../conformance-case.js";
import { hour, ids, newMessage, onStage, second, text } from "../stage.js";

const error = { name: "TypeError", message: "it broke \u{1F4A5}", stack: "TypeError: it broke\n    at handler" };

export const settleCases: readonly ConformanceCase[] = [
  {
    operation: "acknowledge",
    name: "An acknowledged message is gone, and 2,500 are acknowledged in one call",
    run: onStage(async (stage) => {
      const all = ids(2_500);
      await stage.queue.schedule(all.map((id) => newMessage(id)));
      const claims = await stage.takeAll(all.length);
      const settled = await stage.queue.acknowledge(claims.flatMap((claim) => claim.receipts));
      assert.equal(settled.length, all.length);
      assert.ok(settled.every((settlement) => settlement === "settled"));
      assert.ok((await stage.queue.get(all)).every((message) => message === undefined));
    }),
  },
  {
    operation: "acknowledge",
    name: "Acknowledged messages do not come again, and their ids are free",
    run: onStage(async (stage) => {
      await stage.queue.schedule(ids(30).map((id) => newMessage(id)));
      const claims = await stage.takeAll(30, { lease: second });
      await stage.queue.acknowledge(claims.flatMap((claim) => claim.receipts));
      await stage.harness.elapse(second + 20);
      assert.deepEqual((await stage.take()).ids, []);
      const again = await stage.queue.schedule(ids(30).map((id) => newMessage(id)));
      assert.ok(again.every(({ outcome }) => outcome === "scheduled"));
    }),
  },
  {
    operation: "retry",
    name: "A retried message is due again after its delay, with one attempt used",
    run: onStage(async (stage) => {
      await stage.put("a", { headers: { kept: "yes" } });
      const { receipts, now } = await stage.take();
      const retries = receipts.map((receipt) => ({ ...receipt, delay: 90.5, error }));
      assert.deepEqual(await stage.queue.retry(retries), ["settled"]);
      const after = await stage.now();
      await stage.harness.elapse(110);
      const [message] = (await stage.take()).messages;
      assert.ok(message !== undefined && Number.isInteger(message.dueAt));
      assert.ok(message.dueAt >= now + 90.5 && message.dueAt <= Math.ceil(after + 90.5));
      assert.deepEqual(
        [message.id, message.attempt, text(message.payload), { ...message.headers }],
        ["a", 2, "payload of a", { kept: "yes" }],
      );
    }),
  },
  {
    operation: "retry",
    name: "A retried message is due again after its delay, with one attempt used and its error kept",
    run: onStage(async (stage) => {
      await stage.put("a", { headers: { kept: "yes" } });
      const { receipts, now } = await stage.take();
      assert.deepEqual(await stage.queue.retry(receipts.map((receipt) => ({ ...receipt, delay: 90.5, error }))), [
        "settled",
      ]);
      const after = await stage.now();
      const message = await stage.read("a");
      assert.ok(Number.isInteger(message.dueAt));
      assert.ok(message.dueAt >= now + 90.5 && message.dueAt <= Math.ceil(after + 90.5));
      assert.deepEqual([message.attempt, text(message.payload), message.leaseUntil], [1, "payload of a", undefined]);
      const { at, ...kept } = message.lastError ?? { at: 0 };
      assert.deepEqual({ ...kept }, error);
      assert.ok(at >= Math.floor(now) && at <= after, "the error has the time at which it came in");
      await stage.harness.elapse(110);
      const claim = await stage.take();
      assert.deepEqual(
        claim.messages.map((one) => [one.id, one.attempt, one.dueAt, { ...one.headers }]),
        [["a", 2, message.dueAt, { kept: "yes" }]],
      );
    }),
  },
  {
    operation: "retry",
    name: "A message that is retried without a delay is due at once, time and again",
    run: onStage(async (stage) => {
      await stage.put("a");
      for (const attempt of [1, 2, 3]) {
        const { messages, receipts } = await stage.take();
        assert.deepEqual(
          messages.map((message) => [message.id, message.attempt]),
          [["a", attempt]],
        );
        await stage.queue.retry(receipts.map((receipt) => ({ ...receipt, delay: 0 })));
      }
    }),
  },
  {
    operation: "retry",
    name: "A message that is retried without a delay is due at once, and its last error is kept when none comes after it",
    run: onStage(async (stage) => {
      await stage.put("a");
      for (const given of [error, undefined]) {
        const { receipts } = await stage.take();
        await stage.queue.retry(receipts.map((receipt) => ({ ...receipt, delay: 0, error: given })));
      }
      assert.equal((await stage.read("a")).lastError?.message, error.message);
      assert.deepEqual(
        (await stage.take()).messages.map((message) => message.attempt),
        [3],
      );
    }),
  },
  {
    operation: "release",
    name: "A released message without a delay keeps its due time and its place, and no attempt is used",
    run: onStage(async (stage) => {
      await stage.queue.schedule(ids(4).map((id) => newMessage(id)));
      const first = await stage.take();
      assert.deepEqual(first.ids, ["m-0", "m-1", "m-2", "m-3"]);
      const dues = first.messages.map((message) => message.dueAt);
      await stage.harness.elapse(20);
      // Given back in another order than they were taken.
      for (const index of [2, 0, 3, 1]) {
        const receipt = first.receipts[index];
        assert.ok(receipt !== undefined);
        assert.deepEqual(await stage.queue.release([receipt]), ["settled"]);
      }
      const again = await stage.take();
      assert.deepEqual(
        again.messages.map((message) => [message.id, message.attempt]),
        [
          ["m-0", 1],
          ["m-1", 1],
          ["m-2", 1],
          ["m-3", 1],
        ],
      );
      assert.deepEqual(
        again.messages.map((message) => message.dueAt),
        dues,
      );
    }),
  },
  {
    operation: "release",
    name: "A released message is read as due, or scheduled when there is a delay, with no attempt used",
    run: onStage(async (stage) => {
      await stage.queue.schedule(ids(2).map((id) => newMessage(id)));
      const { receipts } = await stage.take();
      const delays = [undefined, hour];
      await stage.queue.release(receipts.map((receipt, index) => ({ ...receipt, delay: delays[index] })));
      const stored = await stage.queue.get(receipts.map(({ id }) => id));
      assert.deepEqual(
        stored.map((message) => [message?.state, message?.attempt]),
        [
          ["due", 0],
          ["scheduled", 0],
        ],
      );
    }),
  },
  {
    operation: "release",
    name: "A released message with a delay is due after it, and no attempt is used however often it is released",
    run: onStage(async (stage) => {
      await stage.put("a", { attempts: 2 });
      let earliest = 0;
      for (let round = 0; round < 4; round++) {
        const { receipts, messages, now } = await stage.take();
        assert.deepEqual(
          messages.map((message) => [message.attempt, message.dueAt >= earliest]),
          [[1, true]],
        );
        await stage.queue.release(receipts.map((receipt) => ({ ...receipt, delay: 30 })));
        earliest = now + 30;
        await stage.harness.elapse(40);
      }
    }),
  },
  {
    promise: 6,
    operation: "bury",
    name: "Nothing is dropped silently: a buried message keeps payload, headers, attempts, reason, error, due time and time",
    run: onStage(async (stage) => {
      const { dueAt } = await stage.put("a", { headers: { kept: "yes" } });
      const { receipts, now } = await stage.take();
      const burials = receipts.map((receipt) => ({ ...receipt, reason: "poison \u{2620}", error }));
      assert.deepEqual(await stage.queue.bury(burials), ["settled"]);
      const after = await stage.now();
      const message = await stage.read("a");
      assert.deepEqual(
        [message.state, text(message.payload), message.attempt, message.dueAt, message.buried?.reason],
        ["dead", "payload of a", 1, dueAt, "poison \u{2620}"],
      );
      assert.deepEqual({ ...message.headers }, { kept: "yes" });
      const at = message.buried?.at ?? 0;
      assert.ok(at >= Math.floor(now) && at <= after, `buried at ${at}, between ${now} and ${after}`);
      assert.equal(message.lastError?.message, error.message);
      assert.equal(message.lastError?.stack, error.stack);
      await stage.harness.elapse(10);
      assert.deepEqual((await stage.take()).ids, [], "a dead letter is not delivered");
      assert.equal((await stage.queue.counts()).dead, 1);
    }),
  },
  {
    operation: "bury",
    name: "A buried message is not delivered again, neither at once nor when its lease would have ended",
    run: onStage(async (stage) => {
      await stage.put("a");
      const { receipts } = await stage.take({ lease: second });
      assert.deepEqual(await stage.queue.bury(receipts.map((receipt) => ({ ...receipt, reason: "poison" }))), [
        "settled",
      ]);
      assert.deepEqual((await stage.take()).ids, []);
      await stage.harness.elapse(second + 20);
      assert.deepEqual((await stage.take()).ids, []);
    }),
  },
  {
    operation: "extend",
    name: "Many leases are extended in one call, each answered with its new deadline or with lease-lost, in order",
    run: onStage(async (stage) => {
      await stage.queue.schedule(ids(1_500).map((id) => newMessage(id)));
      const receipts = (await stage.takeAll(1_500, { lease: 5 * second })).flatMap((claim) => claim.receipts);
      const [first] = receipts;
      assert.ok(first !== undefined);
      await stage.queue.acknowledge([first]);
      const before = await stage.now();
      const extensions = await stage.queue.extend(receipts, hour);
      assert.equal(extensions.length, 1_500);
      assert.equal(extensions[0]?.outcome, "lease-lost");
      for (const extension of extensions.slice(1)) {
        assert.ok(extension.outcome === "extended" && extension.leaseUntil >= before + hour - 1);
      }
    }),
  },
];
