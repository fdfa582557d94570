import assert from "node:assert/strict";
import { binaryCodec } from "../../../codec.js";
import type { ScheduleOptions } from "../../../new-message.js";
import type { When } from "../../../due.js";
import { Queue } from "../../../queue.js";
import type { ConformanceCase } from "../conformance-case.js";
import { textQueue } from "../recorder.js";
import type { Stage } from "../stage.js";
import { hour, ids, minute, onStage } from "../stage.js";
import { strangeIds } from "./message-ids.js";

const mebibyte = 2 ** 20;

/** Options that are refused, each with what is wrong; some are no options at all for the type. */
const refusedOptions: Readonly<Record<string, unknown>> = {
  "a delay of NaN": { delay: Number.NaN },
  "a delay of Infinity": { delay: Number.POSITIVE_INFINITY },
  "a delay of -Infinity": { delay: Number.NEGATIVE_INFINITY },
  'a delay of "1500", without a unit': { delay: "1500" },
  'a delay of "-5m"': { delay: "-5m" },
  "a delay of empty text": { delay: "" },
  'a delay of "5 minutes"': { delay: "5 minutes" },
  "a delay of null": { delay: null },
  "a delay that is a Date": { delay: new Date(0) },
  "an at of NaN": { at: Number.NaN },
  "an at of new Date(NaN)": { at: new Date(Number.NaN) },
  "an at after 8.64e15": { at: 8.64e15 + 1_000 },
  "an at that is text": { at: "2030-01-01" },
  "both delay and at": { delay: 0, at: 0 },
  "neither delay nor at": {},
  "an empty id": { delay: 0, id: "" },
  "an id of 257 bytes": { delay: 0, id: "x".repeat(257) },
  "an id of 65 emoji, 260 bytes": { delay: 0, id: "\u{1F389}".repeat(65) },
  "an id with half a surrogate pair": { delay: 0, id: "\ud83c" },
  "an id that is a number": { delay: 0, id: 7 },
  "attempts of 0": { delay: 0, attempts: 0 },
  "attempts of 1.5": { delay: 0, attempts: 1.5 },
  'an expiresIn of "-1s"': { delay: 0, expiresIn: "-1s" },
  "an onDuplicate of its own": { delay: 0, onDuplicate: "merge" },
  "a header that is no text": { delay: 0, headers: { n: 1 } },
};

/** What JavaScript callers may hand over, whatever the types say. */
function asOptions(options: unknown): When & ScheduleOptions {
  return options as When & ScheduleOptions;
}

async function expectNothingStored(stage: Stage): Promise<void> {
  const { scheduled, due, leased, dead } = await stage.queue.counts();
  assert.deepEqual([scheduled, due, leased, dead], [0, 0, 0, 0], "nothing was written");
}

const refusedInput = Object.entries(refusedOptions).map(([what, options]): ConformanceCase => ({
  operation: "schedule",
  name: `Refused with invalid-argument before anything is written: ${what}`,
  run: onStage(async (stage) => {
    const queue = textQueue(stage);
    const refused = { name: "PunctualError", code: "invalid-argument" };
    await assert.rejects(queue.schedule("x", asOptions(options)), refused);
    const good = { payload: "good", delay: 0 };
    const bad = { payload: "x", ...asOptions(options) };
    await assert.rejects(queue.scheduleMany([good, bad, good]), refused);
    await expectNothingStored(stage);
  }),
}));

export const inputCases: readonly ConformanceCase[] = [
  ...refusedInput,
  {
    operation: "schedule",
    name: "Due times of a queue are read as documented: text with a unit, numbers, Dates, the past as now",
    run: onStage(async (stage) => {
      const queue = textQueue(stage);
      const expectDelay = async (delay: number | string, ms: number) => {
        const before = await stage.now();
        const { dueAt, outcome } = await queue.schedule("x", { delay });
        const after = await stage.now();
        assert.equal(outcome, "scheduled");
        const due = dueAt.getTime();
        assert.ok(due >= Math.floor(before) + ms && due <= Math.ceil(after + ms), `${delay}: ${due - before} ms`);
      };
      await expectDelay("1.5h", 1.5 * hour);
      await expectDelay("250ms", 250);
      await expectDelay("7d", 7 * 24 * hour);
      await expectDelay(0, 0);
      await expectDelay(-1, 0);
      await expectDelay(-1e15, 0);
      await expectDelay(0.4, 1);
      await expectDelay(2 ** 31, 2 ** 31);
      await expectDelay(2 ** 32 + 5_000, 2 ** 32 + 5_000);
      await expectDelay("3650d", 3650 * 24 * hour);
      const at = Math.floor(await stage.now()) + hour;
      assert.equal((await queue.schedule("x", { at })).dueAt.getTime(), at);
      assert.equal((await queue.schedule("x", { at: new Date(at) })).dueAt.getTime(), at);
      assert.equal((await queue.schedule("x", { at: 8.64e15 })).dueAt.getTime(), 8.64e15);
      const before = Math.floor(await stage.now());
      const past = await queue.schedule("x", { at: new Date(0) });
      assert.ok(past.dueAt.getTime() >= before && past.dueAt.getTime() <= (await stage.now()), "the past means now");
    }),
  },
  {
    operation: "schedule",
    name: "Ids are taken as they are, up to 256 bytes, and made up where there is none, never the same twice",
    run: onStage(async (stage) => {
      const queue = textQueue(stage);
      const answers = await Promise.all(strangeIds.map((id) => queue.schedule(`for ${id}`, { id, delay: 0 })));
      assert.deepEqual(
        answers.map(({ id, outcome }) => [id, outcome]),
        strangeIds.map((id) => [id, "scheduled"]),
      );
      const received = new Map<string, string>();
      while (received.size < strangeIds.length) {
        const deliveries = await queue.receive({ max: 100 });
        assert.ok(deliveries.length > 0, `only ${received.size} of them are delivered`);
        for (const { id, payload } of deliveries) received.set(id, payload);
        await Promise.all(deliveries.map((delivery) => delivery.acknowledge()));
      }
      for (const id of strangeIds) assert.equal(received.get(id), `for ${id}`);
      const made = await Promise.all(ids(500).map(() => queue.schedule("x", { delay: hour })));
      assert.equal(new Set(made.map(({ id }) => id)).size, 500);
      assert.equal((await queue.counts()).scheduled, 500);
    }),
  },
  {
    operation: "get",
    name: "A queue reads messages back by ids of any signs, at the due times that it answered, and cancels them",
    run: onStage(async (stage) => {
      const queue = textQueue(stage);
      const answers = await queue.scheduleMany(
        strangeIds.map((id, index) => ({ payload: `for ${id}`, id, delay: `${index + 1}h` })),
      );
      for (const { id, dueAt } of answers) {
        const message = await queue.get(id);
        assert.deepEqual([message?.payload, message?.dueAt], [`for ${id}`, dueAt]);
      }
      assert.deepEqual(
        await queue.cancelMany(strangeIds),
        strangeIds.map(() => "cancelled"),
      );
    }),
  },
  {
    promise: 11,
    operation: "schedule",
    name: "Opaque payload: a queue takes payloads from empty to 1 MiB, and refuses 1 MiB and a byte before it is written",
    run: onStage(async (stage) => {
      const queue = new Queue(stage.name, { engine: stage.harness.engine, codec: binaryCodec() });
      const tooLarge = { name: "PunctualError", code: "payload-too-large" };
      await assert.rejects(queue.schedule(new Uint8Array(mebibyte + 1), { delay: hour }), tooLarge);
      const good = { payload: new Uint8Array(0), delay: hour };
      const bad = { payload: new Uint8Array(mebibyte + 1), delay: hour };
      await assert.rejects(queue.scheduleMany([good, bad]), tooLarge);
      await expectNothingStored(stage);
      const largest = Uint8Array.from({ length: mebibyte }, (_, index) => index % 251);
      await queue.schedule(largest, { delay: 0, id: "largest" });
      await queue.schedule(new Uint8Array(0), { delay: 0, id: "empty" });
      const received = new Map<string, Uint8Array>();
      while (received.size < 2) {
        const deliveries = await queue.receive({ max: 2 });
        assert.ok(deliveries.length > 0, `only ${received.size} of them are delivered`);
        for (const { id, payload } of deliveries) received.set(id, payload);
      }
      assert.ok(Buffer.from(received.get("largest") ?? []).equals(largest));
      assert.equal(received.get("empty")?.length, 0);
    }),
  },
  {
    operation: "schedule",
    name: "Calls of one tick are each answered for themselves, and a bad one among them fails alone",
    run: onStage(async (stage) => {
      const queue = textQueue(stage);
      const outcomes = await Promise.all(
        ids(60).map(async (id, index) => {
          const delay = index % 20 === 7 ? "1500" : hour;
          const call = queue.schedule(id, { id: index % 10 === 3 ? "same" : id, delay });
          return call.then(
            ({ outcome }) => outcome,
            () => "refused",
          );
        }),
      );
      const count = (outcome: string) => outcomes.filter((one) => one === outcome).length;
      assert.deepEqual([count("refused"), count("duplicate"), count("scheduled")], [3, 5, 52]);
      assert.equal((await queue.counts()).scheduled, 52);
    }),
  },
  {
    operation: "scheduleMany",
    name: "5,000 messages are scheduled in one call and answered in order, and the same 5,000 once more as duplicates",
    run: onStage(async (stage) => {
      const queue = textQueue(stage);
      function* messages() {
        for (const id of ids(5_000)) yield { payload: `for ${id}`, id, delay: minute };
      }
      for (const outcome of ["scheduled", "duplicate"]) {
        const results = await queue.scheduleMany(messages());
        assert.deepEqual(
          results.map(({ id }) => id),
          ids(5_000),
        );
        assert.ok(results.every((result) => result.outcome === outcome));
      }
      assert.equal((await queue.counts()).scheduled, 5_000);
    }),
  },
  {
    operation: "scheduleMany",
    name: "Many messages are scheduled in one call and answered in order; none is answered with nothing",
    run: onStage(async (stage) => {
      const queue = textQueue(stage);
      assert.deepEqual(await queue.scheduleMany([]), []);
      function* messages() {
        for (const id of ids(5_000)) yield { payload: `for ${id}`, id, delay: minute };
        yield { payload: "again", id: "m-0", delay: hour };
        yield { payload: "instead", id: "m-1", delay: hour, onDuplicate: "replace" as const };
      }
      const results = await queue.scheduleMany(messages());
      assert.equal(results.length, 5_002);
      assert.deepEqual(
        results.slice(0, 5_000).map(({ id }) => id),
        ids(5_000),
      );
      assert.ok(results.slice(0, 5_000).every(({ outcome }) => outcome === "scheduled"));
      assert.deepEqual(
        results.slice(5_000).map(({ outcome }) => outcome),
        ["duplicate", "replaced"],
      );
      assert.equal((await queue.get("m-1"))?.payload, "instead");
      assert.equal((await queue.get("m-4999"))?.payload, "for m-4999");
      assert.equal((await queue.counts()).scheduled, 5_000);
    }),
  },
];
