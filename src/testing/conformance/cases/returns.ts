import assert from "node:assert/strict";
import type { ConformanceCase } from "../conformance-case.js";
import { Recorder } from "../recorder.js";
import { ids, newMessage, onStage, second } from "../stage.js";

const once = { consumer: "once", returns: false } as const;

export const returnsCases: readonly ConformanceCase[] = [
  {
    operation: "claim",
    name: "A claim that does not return takes what is due like any other, and its leases hold",
    run: onStage(async (stage) => {
      await stage.queue.schedule(ids(5).map((id) => newMessage(id)));
      const first = await stage.take({ ...once, limit: 3 });
      assert.deepEqual(first.ids, ["m-0", "m-1", "m-2"]);
      assert.ok(first.nextAt <= first.now, "more is due");
      assert.deepEqual((await stage.take({ ...once, limit: 3, token: first.token })).ids, first.ids);
      assert.deepEqual((await stage.take()).ids, ["m-3", "m-4"]);
      assert.deepEqual(await stage.queue.acknowledge(first.receipts), ["settled", "settled", "settled"]);
    }),
  },
  {
    operation: "claim",
    name: "One that claims and does not return is never waited for: what comes due goes to a consumer that waits, at once",
    alone: true,
    run: onStage(async (stage) => {
      // The first to come would be on duty, if it were to return.
      await stage.take({ ...once, from: stage.otherQueue });
      const recorder = new Recorder(stage);
      await recorder.consumers(2);
      for (const [index, id] of ids(6).entries()) {
        // None takes the duty from a consumer that has it, either.
        await stage.take({ ...once, consumer: `once-${index}`, from: stage.otherQueue });
        await stage.put(id, { due: { delay: 100 } });
        await stage.take({ ...once, consumer: `again-${index}`, from: stage.otherQueue });
        await recorder.started(index + 1, 2 * second);
      }
      assert.deepEqual(recorder.ids, ids(6));
      // A consumer that stands in for one that does not come is 50 ms late each time, and a busy machine now and then.
      const early = recorder.starts.filter((start) => start.lateness < 40).length;
      assert.ok(early >= 3, `lateness: ${recorder.starts.map((start) => start.lateness).join(", ")} ms`);
    }),
  },
  {
    operation: "claim",
    name: "A claim that does not return takes its consumer off whatever it was to look after: it is woken for nothing",
    run: onStage(async (stage) => {
      const woken: number[] = [];
      const watcher = { wake: (at: number) => woken.push(at), postpone() {}, interrupted() {}, recovered() {} };
      const watch = await stage.queue.watch(once.consumer, watcher);
      try {
        await stage.take({ consumer: once.consumer });
        await stage.take(once);
        await stage.put("a", { due: { delay: 50 } });
        await stage.harness.elapse(100);
        assert.deepEqual(woken, []);
        const back = await stage.take({ consumer: once.consumer });
        assert.deepEqual(back.ids, ["a"]);
        await stage.put("b", { due: { delay: 50 } });
        await stage.harness.until(() => woken.length > 0, "it returns now, and is woken", second);
      } finally {
        await watch[Symbol.asyncDispose]();
      }
    }),
  },
  {
    promise: 5,
    operation: "claim",
    name: "Bounded redelivery: what a claim took that does not return is due again when its lease ends",
    run: onStage(async (stage) => {
      await stage.put("a");
      const { leaseUntil } = await stage.take({ ...once, lease: second });
      const recorder = new Recorder(stage);
      await recorder.consumers(2);
      await recorder.started(1);
      const [start] = recorder.starts;
      assert.deepEqual([start?.id, start?.attempt, start?.dueAt], ["a", 2, leaseUntil]);
      assert.ok((start?.at ?? Infinity) <= leaseUntil + second, "at most 1 s later");
    }),
  },
];
