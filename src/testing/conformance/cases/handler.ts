import assert from "node:assert/strict";
import type { Consumer } from "../../../consumer/consumer.js";
import type { Delivery } from "../../../consumer/delivery.js";
import type { ConformanceCase } from "../conformance-case.js";
import { Recorder, textQueue } from "../recorder.js";
import type { Stage } from "../stage.js";
import { bytes, hour, ids, newMessage, onStage, second } from "../stage.js";

/** Waits until a consumer has acknowledged a message; to be called before it is delivered. */
function acknowledgement(stage: Stage, consumer: Consumer<string>, id: string): () => Promise<void> {
  let acknowledged = false;
  consumer.on("acknowledged", (message) => void (acknowledged ||= message.id === id));
  return () => stage.harness.until(() => acknowledged, `${id} is acknowledged`, 3 * second);
}

const dead = async (stage: Stage, id: string) =>
  stage.harness.until(async () => (await stage.find(id))?.state === "dead", `${id} is dead`, 3 * second);

/** What a handler may throw, each with what is kept of it. */
const thrown: readonly { what: string; value: unknown; message: RegExp }[] = [
  { what: "an Error", value: new RangeError("out of it"), message: /out of it/u },
  { what: "text", value: "only text", message: /only text/u },
  { what: "nothing", value: undefined, message: /./u },
  { what: "null", value: null, message: /./u },
  { what: "a plain object", value: { status: 503 }, message: /./u },
  {
    what: "an object that cannot be made text",
    value: {
      toString() {
        throw new Error("no");
      },
    },
    message: /./u,
  },
  { what: "an error of 100,000 signs", value: new Error("x".repeat(100_000)), message: /^x{100}/u },
];

const throwingCases = thrown.map(({ what, value, message }): ConformanceCase => ({
  promise: 6,
  operation: "consume",
  name: `Nothing is dropped silently: a handler that throws ${what} is retried, and at last dead with what it threw`,
  run: onStage(async (stage) => {
    const recorder = new Recorder(stage);
    await stage.put("a");
    const fail = (): never => {
      throw value;
    };
    recorder.consume({ work: fail, retry: { attempts: 2, backoff: () => 0 } });
    await dead(stage, "a");
    assert.deepEqual(
      recorder.starts.map((start) => [start.id, start.attempt, start.attempts]),
      [
        ["a", 1, 2],
        ["a", 2, 2],
      ],
    );
    const { buried, lastError, attempt } = await stage.read("a");
    assert.deepEqual([buried?.reason, attempt], ["attempts", 2]);
    assert.ok(lastError !== undefined);
    assert.match(lastError.message, message);
    assert.ok(Buffer.byteLength(lastError.message) <= 4_096);
  }),
}));

/** How a handler settles by hand, and what becomes of the message. */
const byHand: Readonly<
  Record<string, { settle: (delivery: Delivery<string>) => Promise<void>; state: string | undefined; attempt: number }>
> = {
  acknowledge: { settle: (delivery) => delivery.acknowledge(), state: undefined, attempt: 0 },
  retry: { settle: (delivery) => delivery.retry({ delay: "1h" }), state: "scheduled", attempt: 1 },
  release: { settle: (delivery) => delivery.release({ delay: "1h" }), state: "scheduled", attempt: 0 },
  bury: { settle: (delivery) => delivery.bury("poison"), state: "dead", attempt: 1 },
};

const byHandCases = Object.entries(byHand).flatMap(([verb, { settle }]): ConformanceCase[] =>
  ["returns", "throws"].map((end) => ({
    operation: "consume",
    name: `A handler that settles by ${verb} has settled: once, whatever it does next, also when it ${end}`,
    run: onStage(async (stage) => {
      const recorder = new Recorder(stage);
      await stage.put("a");
      const refusals: unknown[] = [];
      let done = false;
      recorder.consume({
        async work(delivery) {
          await settle(delivery);
          for (const again of Object.values(byHand)) {
            await again.settle(delivery).catch((error: unknown) => refusals.push(error));
          }
          done = true;
          if (end === "throws") throw new Error("too late");
        },
      });
      await stage.harness.until(() => done, "the handler is done", 3 * second);
      await stage.harness.elapse(50);
      assert.equal(refusals.length, 4, "a second settlement is refused");
      assert.equal(recorder.count("a"), 1);
    }),
  })),
);

const byHandReadCases = Object.entries(byHand).map(([verb, { settle, state, attempt }]): ConformanceCase => ({
  operation: "consume",
  name: `A message that its handler settled by ${verb} is read as ${state ?? "absent"}, whatever the handler did next`,
  run: onStage(async (stage) => {
    const recorder = new Recorder(stage);
    await stage.queue.schedule(["returns", "throws"].map((id) => newMessage(id)));
    recorder.consume({
      async work(delivery) {
        await settle(delivery);
        if (delivery.id === "throws") throw new Error("too late");
      },
    });
    await recorder.started(2);
    await stage.harness.elapse(50);
    for (const id of ["returns", "throws"]) {
      const message = await stage.find(id);
      assert.deepEqual(
        [message?.state, message?.attempt],
        state === undefined ? [undefined, undefined] : [state, attempt],
      );
    }
  }),
}));

export const handlerCases: readonly ConformanceCase[] = [
  ...throwingCases,
  ...byHandCases,
  ...byHandReadCases,
  {
    operation: "consume",
    name: "A handler that throws is given the message again until its attempts are used, whatever it throws",
    run: onStage(async (stage) => {
      const recorder = new Recorder(stage);
      await stage.queue.schedule(thrown.map(({ what }) => newMessage(what)));
      const fail = ({ id }: { id: string }): never => {
        throw thrown.find(({ what }) => what === id)?.value;
      };
      recorder.consume({ work: fail, retry: { attempts: 2, backoff: () => 0 } });
      await recorder.started(2 * thrown.length);
      await stage.harness.elapse(100);
      assert.deepEqual(
        recorder.starts.map(({ id, attempt, attempts }) => `${id}: ${attempt} of ${attempts}`).toSorted(),
        thrown.flatMap(({ what }) => [`${what}: 1 of 2`, `${what}: 2 of 2`]).toSorted(),
      );
    }),
  },
  {
    operation: "consume",
    name: "A handler gets the payload, id, due time, attempt and headers, and when it returns the message is gone",
    run: onStage(async (stage) => {
      const recorder = new Recorder(stage);
      const seen: unknown[] = [];
      const queue = textQueue(stage);
      const headers = { traceparent: "00-1-2-03", other: "\u{1F389}" };
      const { dueAt } = await queue.schedule("hello", { id: "a", delay: 20, headers, attempts: 4 });
      const consumer = recorder.consume({
        work: (delivery) => seen.push({ ...delivery.headers }, delivery.dueAt, delivery.signal.aborted),
      });
      await acknowledgement(stage, consumer, "a")();
      const { scheduled, due, leased } = await queue.counts();
      assert.deepEqual([scheduled, due, leased], [0, 0, 0], "it is gone");
      const [start] = recorder.starts;
      assert.deepEqual([start?.id, start?.payload, start?.attempt, start?.attempts], ["a", "hello", 1, 4]);
      assert.deepEqual(seen, [headers, dueAt, false]);
    }),
  },
  {
    operation: "consume",
    name: "A message fails until its handler returns, and each delivery says which attempt it is",
    run: onStage(async (stage) => {
      const recorder = new Recorder(stage);
      const asked: [number, unknown][] = [];
      const error = new Error("not yet");
      await stage.put("a");
      const consumer = recorder.consume({
        work({ attempt }) {
          if (attempt < 3) throw error;
        },
        retry: { backoff: (attempt, cause) => (asked.push([attempt, cause]), attempt * 30) },
      });
      await acknowledgement(stage, consumer, "a")();
      assert.deepEqual(
        recorder.starts.map((start) => start.attempt),
        [1, 2, 3],
      );
      assert.deepEqual(asked, [
        [1, error],
        [2, error],
      ]);
      const [first, next, last] = recorder.starts;
      assert.ok(first !== undefined && next !== undefined && last !== undefined);
      assert.ok(next.at - first.at >= 29 && last.at - next.at >= 59, "each waits for its backoff");
    }),
  },
  {
    operation: "consume",
    name: "A handler that runs longer than its time-out is aborted with timed-out, retried, and its place is free",
    run: onStage(async (stage) => {
      const recorder = new Recorder(stage);
      const reasons: unknown[] = [];
      await stage.put("slow");
      const consumer = recorder.consume({
        concurrency: 1,
        timeout: 200,
        retry: { backoff: () => hour },
        work(delivery) {
          if (delivery.id !== "slow") return;
          delivery.signal.addEventListener("abort", () => reasons.push(delivery.signal.reason));
          return new Promise(() => {});
        },
      });
      const retried: unknown[] = [];
      consumer.on("retried", ({ id, attempt }, { delay }) => retried.push([id, attempt, delay]));
      const acknowledged = acknowledgement(stage, consumer, "next");
      await recorder.started(1);
      await stage.put("next");
      await recorder.started(2);
      await acknowledged();
      assert.deepEqual(retried, [["slow", 1, hour]]);
      assert.equal(reasons.length, 1);
      assert.ok(reasons[0] instanceof Error && "code" in reasons[0] && reasons[0].code === "timed-out");
    }),
  },
  {
    promise: 6,
    operation: "consume",
    name: "Nothing is dropped silently: a payload that the codec cannot read is dead with reason undecodable, undelivered",
    run: onStage(async (stage) => {
      const recorder = new Recorder(stage);
      await stage.queue.schedule([
        newMessage("bad", { payload: Uint8Array.from([0xff, 0xfe, 0xfd]) }),
        newMessage("good", { payload: bytes("good") }),
      ]);
      const acknowledged = acknowledgement(stage, recorder.consume(), "good");
      await dead(stage, "bad");
      await acknowledged();
      const { buried, payload } = await stage.read("bad");
      assert.equal(buried?.reason, "undecodable");
      assert.deepEqual([...payload], [0xff, 0xfe, 0xfd]);
      assert.deepEqual(recorder.ids, ["good"]);
    }),
  },
  {
    operation: "consume",
    name: "As many handlers run at once as the concurrency says, and never more",
    run: onStage(async (stage) => {
      const recorder = new Recorder(stage);
      const all = ids(60);
      await stage.queue.schedule(all.map((id) => newMessage(id)));
      const { clock } = stage.queue;
      recorder.consume({
        concurrency: 7,
        work: () => new Promise<void>((resolve) => void clock.runAfter(15, resolve)),
      });
      await recorder.started(all.length, 10 * second);
      assert.equal(recorder.most, 7);
      assert.deepEqual(recorder.ids.toSorted(), all.toSorted());
    }),
  },
];
