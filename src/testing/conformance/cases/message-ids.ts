import assert from "node:assert/strict";
import type { ConformanceCase } from "../conformance-case.js";
import { hour, ids, newMessage, onStage, text } from "../stage.js";

/** Ids that a key, a separator, an object or a text encoding might bend. */
export const strangeIds: readonly string[] = [
  "with spaces",
  " leading and trailing ",
  "co:lo:ns",
  "{braces}",
  "}{",
  "sl/ash",
  "\u{1F389} emoji \u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}",
  "NUL \0 inside",
  "\0",
  "line\r\nends",
  "\t",
  "\"quotes' \\ and back slashes",
  "__proto__",
  "constructor",
  "toString",
  "0",
  "00",
  "-1",
  "1e3",
  "*",
  "%00 %s",
  "undefined",
  // The same letter, composed and decomposed: two ids.
  "\u00e9",
  "e\u0301",
  "\u{10FFFF}",
  "x".repeat(256),
  "\u{1F389}".repeat(64),
];

export const messageIdCases: readonly ConformanceCase[] = [
  {
    operation: "schedule",
    name: "Ids with spaces, colons, braces, emoji, NUL and up to 256 bytes are kept apart and work everywhere",
    run: onStage(async (stage) => {
      const all = [...strangeIds];
      const results = await stage.queue.schedule(all.map((id) => newMessage(id, { due: { delay: hour } })));
      assert.ok(results.every(({ outcome }) => outcome === "scheduled"));
      const again = await stage.queue.schedule(all.map((id) => newMessage(id)));
      assert.ok(again.every(({ outcome }) => outcome === "duplicate"));
      const read = await stage.otherQueue.get(all);
      assert.deepEqual(
        read.map((message) => message && [message.id, text(message.payload)]),
        all.map((id) => [id, `payload of ${id}`]),
      );
      const moved = await stage.queue.reschedule(all.map((id) => ({ id, due: { delay: 0 } })));
      assert.ok(moved.every((answer) => answer === "rescheduled"));
      const first = await stage.take();
      assert.deepEqual(
        first.messages.map((message) => [message.id, text(message.payload)]),
        all.map((id) => [id, `payload of ${id}`]),
      );
      const recovered = await stage.take({ token: first.token });
      assert.deepEqual(recovered.ids.toSorted(), all.toSorted());
      const extended = await stage.queue.extend(first.receipts, hour);
      assert.ok(extended.every(({ outcome }) => outcome === "extended"));
      const retried = await stage.queue.retry(first.receipts.map((receipt) => ({ ...receipt, delay: 0 })));
      assert.ok(retried.every((settlement) => settlement === "settled"));
      const second = await stage.take();
      assert.deepEqual(second.ids, all);
      assert.ok(second.messages.every((message) => message.attempt === 2));
      const released = await stage.queue.release(second.receipts);
      assert.ok(released.every((settlement) => settlement === "settled"));
      const third = await stage.take();
      const half = third.receipts.filter((_, index) => index % 2 === 0);
      const rest = third.receipts.filter((_, index) => index % 2 === 1);
      await stage.queue.bury(half.map((receipt) => ({ ...receipt, reason: "poison" })));
      await stage.queue.acknowledge(rest);
      const cancelled = await stage.queue.cancel(all);
      assert.deepEqual(
        cancelled,
        all.map((_, index) => (index % 2 === 0 ? "cancelled" : "absent")),
      );
      const { scheduled, due, leased, dead } = await stage.queue.counts();
      assert.deepEqual([scheduled, due, leased, dead], [0, 0, 0, 0]);
    }),
  },
  {
    operation: "claim",
    name: "Ids with spaces, colons, braces, emoji, NUL and up to 256 bytes are delivered and settled as what they are",
    run: onStage(async (stage) => {
      const all = [...strangeIds].toSorted();
      const take = async (attempt: number) => {
        const claims = await stage.takeAll(all.length);
        const messages = claims.flatMap((claim) => claim.messages);
        assert.deepEqual(messages.map(({ id }) => id).toSorted(), all);
        for (const message of messages) {
          assert.deepEqual([text(message.payload), message.attempt], [`payload of ${message.id}`, attempt]);
        }
        return claims.flatMap((claim) => claim.receipts);
      };
      await stage.queue.schedule(all.map((id) => newMessage(id)));
      const first = await take(1);
      const extended = await stage.queue.extend(first, hour);
      assert.ok(extended.every(({ outcome }) => outcome === "extended"));
      const retried = await stage.queue.retry(first.map((receipt) => ({ ...receipt, delay: 0 })));
      assert.ok(retried.every((settlement) => settlement === "settled"));
      const released = await stage.queue.release(await take(2));
      assert.ok(released.every((settlement) => settlement === "settled"));
      const third = await take(2);
      const half = third.slice(0, 10).map((receipt) => ({ ...receipt, reason: "poison" }));
      assert.ok((await stage.queue.bury(half)).every((settlement) => settlement === "settled"));
      assert.ok((await stage.queue.acknowledge(third.slice(10))).every((settlement) => settlement === "settled"));
      assert.deepEqual((await stage.take()).ids, []);
    }),
  },
  {
    operation: "open",
    name: "Queue names with every sign that is allowed, and of 128 signs, hold messages of their own",
    run: onStage(async (stage) => {
      const base = stage.name.replaceAll(/[^A-Za-z0-9]/gu, "").slice(0, 60);
      const names = [`${base}A`, `${base}a`, `${base}.a`, `${base}_a`, `${base}:a`, `${base}-a`, base.padEnd(128, "z")];
      const queues = names.map((name) => stage.harness.engine.open(name));
      for (const [index, queue] of queues.entries()) {
        await queue.schedule(ids(index + 1).map((id) => newMessage(id)));
      }
      const counts = await Promise.all(queues.map((queue) => queue.counts()));
      assert.deepEqual(
        counts.map(({ due }) => due),
        names.map((_, index) => index + 1),
      );
    }),
  },
];
