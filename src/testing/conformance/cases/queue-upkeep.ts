import assert from "node:assert/strict";
import { jsonCodec, textCodec } from "../../../codec.js";
import { PunctualError } from "../../../errors.js";
import { Queue, type Scheduled } from "../../../queue.js";
import type { ConformanceCase } from "../conformance-case.js";
import { interposed } from "../interposed-engine.js";
import { Recorder, textQueue } from "../recorder.js";
import { bring } from "../situations.js";
import { bytes, hour, ids, newMessage, onStage, second } from "../stage.js";

/** What the interface for programs makes of lists, dead letters, purges and audits. */
export const queueUpkeepCases: readonly ConformanceCase[] = [
  {
    operation: "list",
    name: "A queue lists its messages as it reads them, scheduled ones unless told otherwise, with dates and cursors",
    run: onStage(async (stage) => {
      const queue = textQueue(stage);
      const at = new Date(Math.floor(await stage.now()) + hour);
      await queue.scheduleMany(ids(5).map((id) => ({ id, payload: id, at })));
      await bring(stage, "dead", "dead");
      const first = await queue.list({ limit: 3 });
      assert.deepEqual(first.messages, await Promise.all(["m-0", "m-1", "m-2"].map((id) => queue.get(id))));
      const rest = await queue.list({ limit: 3, cursor: first.cursor });
      assert.deepEqual(
        rest.messages.map((message) => [message.id, message.payload, message.dueAt]),
        ["m-3", "m-4"].map((id) => [id, id, at]),
      );
      assert.equal(rest.cursor, undefined);
      assert.equal((await queue.list({ from: at, to: at })).messages.length, 5);
      assert.equal((await queue.list({ to: new Date(at.getTime() - 1) })).messages.length, 0);
      const [dead] = (await queue.list({ state: "dead" })).messages;
      assert.deepEqual([dead?.id, dead?.buried?.reason, dead?.lastError?.message], ["dead", "poison", "no use"]);
    }),
  },
  {
    operation: "list",
    name: "A payload that cannot be decoded does not keep a queue from listing the others",
    run: onStage(async (stage) => {
      const queue = new Queue(stage.name, { engine: stage.harness.engine, codec: jsonCodec() });
      await stage.queue.schedule(
        ["1", "{", "3"].map((payload, index) => newMessage(`m-${index}`, { payload: bytes(payload) })),
      );
      const { messages } = await queue.list({ state: "due" });
      assert.deepEqual(
        messages.map((message) => [message.id, message.payload, message.undecodable?.code]),
        [
          ["m-0", 1, undefined],
          ["m-1", undefined, "undecodable"],
          ["m-2", 3, undefined],
        ],
      );
    }),
  },
  {
    promise: 6,
    operation: "revive",
    name: "Nothing is dropped silently: what a consumer gave up is listed, revived and then handled",
    run: onStage(async (stage) => {
      const queue = textQueue(stage);
      const recorder = new Recorder(stage);
      assert.equal(await queue.revive("all"), 0, "there are none yet");
      let broken = true;
      recorder.consume({
        retry: { attempts: 2, backoff: () => 0 },
        work: ({ id }) => {
          if (broken) throw new RangeError(`no use for ${id}`);
        },
      });
      await queue.scheduleMany(ids(5).map((id) => ({ id, payload: `text of ${id}`, delay: 0 })));
      await stage.harness.until(async () => (await queue.counts()).dead === 5, "all are dead", 5 * second);
      const { messages } = await queue.list({ state: "dead" });
      for (const { id, payload, attempt, lastError, buried } of messages) {
        assert.deepEqual(
          [payload, attempt, lastError?.name, lastError?.message, buried?.reason],
          [`text of ${id}`, 2, "RangeError", `no use for ${id}`, "attempts"],
        );
      }
      broken = false;
      assert.equal(await queue.remove(["m-4", "absent"]), 1);
      assert.equal(await queue.revive(["m-0"]), 1);
      assert.equal(await queue.revive("all", { delay: 50 }), 3);
      await recorder.started(14);
      const { scheduled, due, dead } = await queue.counts();
      assert.deepEqual([scheduled, due, dead], [0, 0, 0]);
      assert.deepEqual(
        recorder.starts.slice(10).map((start) => start.attempt),
        [1, 1, 1, 1],
      );
    }),
  },
  {
    operation: "purge",
    name: "A queue purges, audits and repairs as its engine does",
    run: onStage(async (stage) => {
      const queue = textQueue(stage);
      await bring(stage, "dead", "dead");
      await bring(stage, "leased", "leased");
      await bring(stage, "due", "due");
      await bring(stage, "scheduled", "scheduled");
      assert.equal(await queue.purge("waiting"), 2);
      assert.equal(await queue.purge("dead"), 1);
      const { leased, ...counts } = await queue.counts();
      assert.deepEqual([leased, counts], [1, { scheduled: 0, due: 0, dead: 0, paused: false }]);
      for (const report of [await queue.audit(), await queue.repair()]) {
        assert.deepEqual([report.ok, report.problems], [true, []]);
        assert.ok(report.checked > 0);
      }
    }),
  },
  {
    promise: 4,
    operation: "schedule",
    name: "Idempotent schedule: a queue that remembers ids answers duplicate for one that was handled, by whatever consumer",
    run: onStage(async (stage) => {
      const { engine, other } = stage.harness;
      const queue = new Queue(stage.name, { engine, codec: textCodec(), rememberFor: "2s" });
      const recorder = new Recorder(stage);
      recorder.consume({ engine: other });
      const schedule = async () => (await queue.schedule("x", { id: "a", delay: 0 })).outcome;
      assert.equal(await schedule(), "scheduled");
      await stage.harness.until(async () => (await queue.get("a")) === undefined, "it is handled", 2 * second);
      assert.equal(await schedule(), "duplicate");
      await stage.harness.elapse(2 * second + 20);
      assert.equal(await schedule(), "scheduled");
      await recorder.started(2);
    }),
  },
  {
    promise: 4,
    operation: "scheduleMany",
    name: "Idempotent schedule: a batch that failed half-way says what is stored, and leaves one message each when repeated",
    run: onStage(async (stage) => {
      let failures = 0;
      const engine = interposed(stage.harness.engine, {
        async around(operation, call) {
          const answer = await call();
          if (operation !== "schedule" || failures++ > 0 || !Array.isArray(answer)) return answer;
          // All are stored, and the replies for every second one are lost.
          const results = answer.map((result: unknown, index) => (index % 2 === 0 ? result : undefined));
          throw new PunctualError("outcome-unknown", "Replies were lost.", { details: { results } });
        },
      });
      const queue = textQueue(stage, engine);
      const all = ids(40).map((id) => ({ id, payload: id, delay: hour }));
      const error = await queue.scheduleMany(all).then(
        () => undefined,
        (failure: unknown) => failure,
      );
      assert.ok(error instanceof PunctualError && error.code === "outcome-unknown");
      const known = error.details["results"] as (Scheduled | undefined)[];
      assert.deepEqual(
        known.map((result) => [result?.id, result?.outcome]),
        all.map(({ id }, index) => (index % 2 === 0 ? [id, "scheduled"] : [undefined, undefined])),
      );
      for (const result of known) {
        if (result !== undefined) assert.deepEqual(result.dueAt, (await queue.get(result.id))?.dueAt);
      }
      const again = await queue.scheduleMany(all);
      assert.ok(again.every(({ outcome }) => outcome === "duplicate"));
      assert.equal((await queue.counts()).scheduled, 40);
    }),
  },
  {
    operation: "events",
    name: "A consumer tells which dead letters fell out of the bounds, and how many ever did",
    run: onStage(async (stage) => {
      const engine = stage.harness.bounded({ max: 2 });
      const queue = new Queue(stage.name, { engine, codec: textCodec() });
      const dropped: string[] = [];
      let total = 0;
      const work = () => Promise.reject(new Error("no use"));
      const consumer = stage.keep(queue.consume(work, { concurrency: 1, retry: { attempts: 1 } }));
      consumer.on("dropped", (event) => {
        dropped.push(...event.ids);
        total = event.total;
      });
      await queue.scheduleMany(ids(6).map((id) => ({ id, payload: id, delay: 0 })));
      await stage.harness.until(() => dropped.length === 4, "four have fallen out", 5 * second);
      assert.equal(total, 4);
      const { messages } = await queue.list({ state: "dead" });
      assert.deepEqual([...dropped, ...messages.map((message) => message.id)].toSorted(), ids(6));
    }),
  },
];
