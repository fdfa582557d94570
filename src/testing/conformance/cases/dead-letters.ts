import assert from "node:assert/strict";
import type { ConformanceCase } from "../conformance-case.js";
import { Recorder } from "../recorder.js";
import type { Situation } from "../situations.js";
import { bring, situations } from "../situations.js";
import type { Stage } from "../stage.js";
import { hour, ids, newMessage, onStage, second, text } from "../stage.js";

const error = { name: "TypeError", message: "no use", stack: "TypeError: no use\n    at work" };

/** How a message comes to the dead letters: what the schedule says, and what happens then. */
const ways: Readonly<
  Record<string, { reason: string; attempt: number; failed: boolean; go: (stage: Stage) => Promise<unknown> }>
> = {
  "it failed for the last time": {
    reason: "attempts",
    attempt: 1,
    failed: true,
    async go(stage) {
      await put(stage, { attempts: 1 });
      await stage.queue.retry((await stage.take()).receipts.map((receipt) => ({ ...receipt, delay: 0, error })));
    },
  },
  "its last lease ended": {
    reason: "attempts",
    attempt: 2,
    failed: true,
    async go(stage) {
      await put(stage, { attempts: 2 });
      await stage.queue.retry((await stage.take()).receipts.map((receipt) => ({ ...receipt, delay: 0, error })));
      await stage.take({ lease: second });
      await stage.harness.elapse(second + 20);
      await stage.take({ limit: 0 });
    },
  },
  "it expired": {
    reason: "expired",
    attempt: 0,
    failed: false,
    async go(stage) {
      await put(stage, { expiresIn: 1 });
      await stage.harness.elapse(20);
      await stage.take();
    },
  },
  "it was buried by hand": {
    reason: "poison",
    attempt: 1,
    failed: true,
    async go(stage) {
      await put(stage, {});
      await stage.queue.bury((await stage.take()).receipts.map((receipt) => ({ ...receipt, reason: "poison", error })));
    },
  },
};

async function put(stage: Stage, options: object): Promise<void> {
  await stage.put("a", { ...options, headers: { version: "1" } });
}

const wayCases = Object.entries(ways).map(([way, { reason, attempt, failed, go }]): ConformanceCase => {
  return {
    promise: 6,
    operation: "revive",
    name: `Nothing is dropped silently: once ${way}, it is kept with payload, attempts, error and time, and can be revived`,
    run: onStage(async (stage) => {
      const before = Math.floor(await stage.now());
      await go(stage);
      const after = await stage.now();
      const [dead, ...others] = await stage.list({ state: "dead" });
      assert.ok(dead !== undefined && others.length === 0);
      assert.deepEqual(
        [dead.id, dead.attempt, dead.buried?.reason, text(dead.payload), { ...dead.headers }],
        ["a", attempt, reason, "payload of a", { version: "1" }],
      );
      const { at } = dead.buried ?? { at: 0 };
      assert.ok(before <= at && at <= after, `buried at ${at}, between ${before} and ${after}`);
      assert.ok(before <= dead.dueAt && dead.dueAt <= after, "it still says when it was due last");
      if (failed) {
        const { at: failedAt = 0, ...kept } = dead.lastError ?? {};
        assert.deepEqual(kept, error);
        assert.ok(before <= failedAt && failedAt <= after);
      } else assert.equal(dead.lastError, undefined);
      assert.equal(await stage.otherQueue.revive(["a"], { delay: 0 }), 1);
      const revived = await stage.read("a");
      assert.deepEqual(
        [revived.state, revived.attempt, revived.lastError, revived.buried],
        ["due", 0, undefined, undefined],
      );
      // Far over its expiry, if it had one: that is over with.
      await stage.harness.elapse(20);
      const { messages } = await stage.take();
      assert.deepEqual(
        messages.map((message) => [message.id, message.attempt, text(message.payload), { ...message.headers }]),
        [["a", 1, "payload of a", { version: "1" }]],
      );
    }),
  };
});

/** Whether an id in a situation is a dead letter. */
const isDead = (situation: Situation) => situation === "dead" || situation === "last lease ended";

const matrix = (["revive", "remove"] as const).flatMap((operation) =>
  situations.map((situation): ConformanceCase => {
    const count = isDead(situation) ? 1 : 0;
    return {
      operation,
      name: `An id that is ${situation} counts ${count} when it is ${operation}d`.replace("eed", "ed"),
      run: onStage(async (stage) => {
        const receipt = await bring(stage, "a", situation);
        const before = await stage.find("a");
        const call = () =>
          operation === "revive" ? stage.queue.revive(["a", "a"], { delay: hour }) : stage.queue.remove(["a", "a"]);
        assert.equal(await call(), count);
        if (count === 0) {
          assert.deepEqual(await stage.find("a"), before, "it is passed over, unchanged");
          return;
        }
        assert.equal((await stage.find("a"))?.state, operation === "revive" ? "scheduled" : undefined);
        assert.equal(await call(), 0, "it is no dead letter any more");
        assert.ok(receipt !== undefined);
        assert.deepEqual(await stage.queue.acknowledge([receipt]), ["lease-lost"], "the old lease is void");
        const { scheduled, due, leased, dead } = await stage.queue.counts();
        assert.deepEqual([scheduled, due, leased, dead], [operation === "revive" ? 1 : 0, 0, 0, 0]);
        assert.equal((await stage.queue.audit()).ok, true);
      }),
    };
  }),
);

export const deadLetterCases: readonly ConformanceCase[] = [
  ...wayCases,
  ...matrix,
  {
    promise: 7,
    operation: "revive",
    name: "Order: revived messages go behind those that have their due time already",
    run: onStage(async (stage) => {
      await stage.buryAll(["a", "b"]);
      const due = { at: Math.floor(await stage.now()) + 200 };
      await stage.put("c", { due });
      assert.equal(await stage.queue.revive(["b", "a"], due), 2);
      await stage.put("d", { due });
      await stage.harness.elapse(220);
      assert.deepEqual((await stage.take()).ids, ["c", "b", "a", "d"]);
    }),
  },
  {
    operation: "revive",
    name: "A revived message has its own limit of attempts anew, and can come to the dead letters again",
    run: onStage(async (stage) => {
      await stage.put("a", { attempts: 2 });
      for (const round of [1, 2]) {
        for (const attempt of [1, 2]) {
          const { messages, receipts } = await stage.take({ attempts: 9 });
          assert.deepEqual([messages[0]?.attempt, messages[0]?.attempts], [attempt, 2], `round ${round}`);
          await stage.queue.retry(receipts.map((receipt) => ({ ...receipt, delay: 0 })));
        }
        assert.equal(await stage.queue.revive("all", { delay: 0 }), 1);
      }
    }),
  },
  {
    promise: 9,
    operation: "revive",
    name: "Bounded server work: 20,000 dead letters are revived in one call, each once, in the order of their burial",
    run: onStage(async (stage) => {
      const all = ids(20_000);
      assert.equal(await stage.queue.revive([], { delay: 0 }), 0);
      await stage.buryAll(all);
      const listed = await stage.listed({ state: "dead", limit: 1_000 });
      assert.equal(await stage.queue.revive("all", { delay: 0 }), 20_000);
      assert.deepEqual(await stage.queue.counts(), { scheduled: 0, due: 20_000, leased: 0, dead: 0, paused: false });
      const first = await stage.take({ limit: 100 });
      // Several calls of the store revive them, so their due times are not all the same.
      assert.deepEqual(first.ids, listed.slice(0, 100));
    }),
  },
  {
    operation: "revive",
    name: "Reviving all brings back what was dead when it began, and not again what is buried meanwhile",
    run: onStage(async (stage) => {
      const all = ids(3_000);
      assert.equal(await stage.queue.revive("all", { delay: 0 }), 0, "there are none yet");
      await stage.buryAll(all);
      await stage.harness.elapse(5);
      let done = false;
      const reviving = stage.queue.revive("all", { delay: 0 }).finally(() => (done = true));
      // Awaited below: where it is refused nobody is to hear of it before that.
      reviving.catch(() => {});
      let again = 0;
      while (!done) {
        const { receipts } = await stage.take({ from: stage.otherQueue, limit: 100 });
        await stage.otherQueue.bury(receipts.map((receipt) => ({ ...receipt, reason: "again" })));
        again += receipts.length;
      }
      assert.equal(await reviving, 3_000);
      const { due, dead } = await stage.queue.counts();
      assert.deepEqual([due, dead], [3_000 - again, again]);
      assert.equal((await stage.list({ state: "dead", limit: 1_000 })).filter(wasBuriedOnce).length, 0);
    }),
  },
  {
    promise: 9,
    operation: "remove",
    name: "Bounded server work: 5,000 ids in one call are removed, those that are dead letters",
    run: onStage(async (stage) => {
      const all = ids(5_000);
      assert.equal(await stage.queue.remove([]), 0);
      await stage.buryAll(all);
      await stage.put("alive");
      assert.equal(await stage.queue.remove(["alive", ...all, "absent"]), 5_000);
      const { due, dead } = await stage.queue.counts();
      assert.deepEqual([due, dead], [1, 0]);
    }),
  },
  {
    operation: "revive",
    name: "A consumer that waits gets revived messages at once",
    run: onStage(async (stage) => {
      await stage.buryAll(["a", "b"]);
      const recorder = new Recorder(stage);
      await recorder.consumers(2);
      assert.equal(await stage.queue.revive("all", { delay: 0 }), 2);
      await recorder.started(2, second);
      assert.deepEqual(
        recorder.starts.map((start) => start.attempt),
        [1, 1],
      );
    }),
  },
  {
    operation: "bury",
    name: "Dead letters over the bound of the engine fall out, the oldest first, and whoever buried is told",
    run: onStage(async (stage) => {
      const told: string[] = [];
      let total = 0;
      const queue = stage.harness.bounded({ max: 3 }).open(stage.name, {
        onDropped(dropped) {
          told.push(...dropped.ids);
          total = dropped.total;
        },
      });
      for (const id of ids(8)) {
        await queue.schedule([newMessage(id)]);
        const { receipts } = await stage.take({ from: queue });
        assert.deepEqual(await queue.bury(receipts.map((receipt) => ({ ...receipt, reason: "poison" }))), ["settled"]);
        await stage.harness.elapse(2);
      }
      assert.equal((await queue.counts()).dead, 3);
      const { messages } = await queue.list({ state: "dead", limit: 10 });
      assert.deepEqual(
        messages.map((message) => message.id),
        ["m-5", "m-6", "m-7"],
      );
      assert.deepEqual([told, total], [ids(5), 5]);
      assert.deepEqual(await queue.get(["m-0"]), [undefined]);
      assert.equal((await queue.audit()).ok, true);
    }),
  },
  {
    operation: "bury",
    name: "Dead letters that are older than the engine keeps them fall out when another one comes, in whatever way",
    run: onStage(async (stage) => {
      const told: string[] = [];
      const onDropped = ({ ids: dropped }: { ids: readonly string[] }) => told.push(...dropped);
      const queue = stage.harness.bounded({ maxAge: 500 }).open(stage.name, { onDropped });
      const bury = async (id: string, settle: "bury" | "retry" | "lease end") => {
        await queue.schedule([newMessage(id, { attempts: 1 })]);
        const { receipts } = await stage.take({ from: queue, lease: second });
        if (settle === "bury") await queue.bury(receipts.map((receipt) => ({ ...receipt, reason: "poison" })));
        if (settle === "retry") await queue.retry(receipts.map((receipt) => ({ ...receipt, delay: 0 })));
        await stage.harness.elapse(settle === "lease end" ? second + 20 : 520);
        if (settle === "lease end") await stage.take({ from: queue, limit: 0 });
      };
      await bury("a", "bury");
      assert.deepEqual(told, [], "none falls out by itself");
      await bury("b", "retry");
      assert.deepEqual(told, ["a"]);
      await bury("c", "lease end");
      assert.deepEqual(told, ["a", "b"]);
      assert.deepEqual(await stage.harness.engine.open(`${stage.name}.x`).list({ state: "dead", limit: 9 }), {
        messages: [],
        cursor: undefined,
      });
      const { messages } = await queue.list({ state: "dead", limit: 9 });
      assert.deepEqual(
        messages.map((message) => message.id),
        ["c"],
      );
    }),
  },
  {
    operation: "claim",
    name: "Dead letters that are older than the engine keeps them fall out with the next claim, though none is buried",
    run: onStage(async (stage) => {
      const queue = stage.harness.bounded({ maxAge: 500 }).open(stage.name);
      await queue.schedule([newMessage("a")]);
      const { receipts } = await stage.take({ from: queue });
      await queue.bury(receipts.map((receipt) => ({ ...receipt, reason: "poison" })));
      assert.equal((await queue.counts()).dead, 1);
      await stage.harness.elapse(520);
      await stage.take({ from: queue });
      assert.equal((await queue.counts()).dead, 0);
    }),
  },
];

function wasBuriedOnce(message: { readonly buried?: { readonly reason: string } | undefined }): boolean {
  return message.buried?.reason === "poison";
}
