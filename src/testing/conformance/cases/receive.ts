import assert from "node:assert/strict";
import type { ConformanceCase } from "../conformance-case.js";
import { interposed, tookSomething } from "../interposed-engine.js";
import { Recorder, textQueue } from "../recorder.js";
import { hour, ids, newMessage, onStage, second } from "../stage.js";

export const receiveCases: readonly ConformanceCase[] = [
  {
    operation: "receive",
    name: "Receiving takes what is due and no more than asked for, in due order, each to be settled by hand",
    run: onStage(async (stage) => {
      const queue = textQueue(stage);
      await stage.queue.schedule([
        ...ids(6).map((id) => newMessage(id)),
        newMessage("later", { due: { delay: hour } }),
      ]);
      const [one] = await queue.receive();
      assert.deepEqual([one?.id, one?.payload, one?.attempt, one?.attempts], ["m-0", "payload of m-0", 1, 5]);
      const [two, three, four] = await queue.receive({ max: 3, attempts: 2 });
      assert.deepEqual([two?.id, three?.id, four?.id, four?.attempts], ["m-1", "m-2", "m-3", 2]);
      await one?.acknowledge();
      await two?.retry({ delay: 0, error: new Error("again") });
      await three?.release();
      await four?.bury("poison");
      const rest = await queue.receive({ max: 100 });
      assert.deepEqual(
        // Where the retried one lies depends on how much time has passed.
        rest.map((delivery) => `${delivery.id} ${delivery.attempt}`).toSorted(),
        ["m-1 2", "m-2 1", "m-4 1", "m-5 1"],
      );
      assert.deepEqual(await queue.receive({ max: 100 }), []);
      const { scheduled, due, leased } = await queue.counts();
      assert.deepEqual([scheduled, due, leased], [1, 0, 4]);
    }),
  },
  {
    promise: 1,
    operation: "receive",
    name: "Never early: receiving that waits gets a message when it comes due, not before and not late",
    run: onStage(async (stage) => {
      const queue = textQueue(stage);
      for (const delay of [0, 300]) {
        const before = await stage.now();
        const receiving = queue.receive({ wait: "10s" });
        // Where the case fails before it comes to it, nobody else hears of its failure.
        receiving.catch(() => {});
        await stage.harness.elapse(50);
        // It waits for a far one, or for none, and is woken for this one.
        await stage.put(`${delay}`, { due: { delay } });
        const [delivery] = await stage.passing(receiving, `the message due in ${delay} ms is received`, 4 * second);
        assert.equal(delivery?.id, `${delay}`);
        const now = await stage.now();
        assert.ok(now >= delivery.dueAt.getTime() && delivery.lateness >= 0);
        // One that is not woken asks again after 5 s.
        assert.ok(now - before < 4_500, `it took ${now - before} ms`);
        await delivery.acknowledge();
      }
    }),
  },
  {
    operation: "receive",
    name: "Receiving that waits in vain ends with nothing when its time is over, and leaves nobody waiting for it",
    run: onStage(async (stage) => {
      const queue = textQueue(stage);
      const start = await stage.now();
      assert.deepEqual(await stage.passing(queue.receive({ wait: 400 }), "the wait is over", 2 * second), []);
      const waited = (await stage.now()) - start;
      assert.ok(waited >= 399 && waited < 2 * second, `it waited ${waited} ms`);
      const recorder = new Recorder(stage);
      await recorder.consumers(2);
      await stage.put("a", { due: { delay: 100 } });
      await recorder.started(1, 2 * second);
      assert.deepEqual(recorder.ids, ["a"]);
    }),
  },
  {
    promise: 3,
    operation: "receive",
    name: "One lease at a time: two processes that receive share out what is due, and a consumer beside them none twice",
    run: onStage(async (stage) => {
      const queues = [stage.harness.engine, stage.harness.other].map((engine) => textQueue(stage, engine));
      await stage.queue.schedule(ids(200).map((id) => newMessage(id)));
      const received: string[] = [];
      const work = async (queue: (typeof queues)[number]) => {
        for (;;) {
          const deliveries = await queue.receive({ max: 7 });
          if (deliveries.length === 0) return;
          received.push(...deliveries.map((delivery) => delivery.id));
          await Promise.all(deliveries.map((delivery) => delivery.acknowledge()));
        }
      };
      const recorder = new Recorder(stage);
      recorder.consume();
      await stage.passing(Promise.all(queues.map(work)), "nothing is due any more", 10 * second);
      await stage.harness.until(() => received.length + recorder.ids.length === 200, "all are delivered", 5 * second);
      assert.equal(new Set([...received, ...recorder.ids]).size, 200);
    }),
  },
  {
    promise: 5,
    operation: "receive",
    name: "Bounded redelivery: the lease of a received message is not extended unless its holder does it",
    run: onStage(async (stage) => {
      const queue = textQueue(stage);
      await stage.queue.schedule(ids(2).map((id) => newMessage(id)));
      const [left, kept] = await queue.receive({ max: 2, lease: second });
      await kept?.extend(10 * second);
      await stage.harness.elapse(second + 20);
      const [again, ...none] = await queue.receive({ max: 9 });
      assert.deepEqual([again?.id, again?.attempt, none], ["m-0", 2, []]);
      await stage.harness.until(() => left?.signal.aborted === true, "its signal says that it is lost", second);
      assert.equal(kept?.signal.aborted, false);
      await assert.rejects(async () => left?.acknowledge(), { code: "lease-lost" });
      await kept.acknowledge();
      assert.equal(await queue.get("m-1"), undefined);
    }),
  },
  {
    promise: 14,
    operation: "receive",
    name: "Pause is a pause: receiving gets nothing in a pause, and one that waits gets it when the pause ends",
    run: onStage(async (stage) => {
      const queue = textQueue(stage);
      await queue.pause();
      await stage.put("a");
      assert.deepEqual(await queue.receive(), []);
      const receiving = queue.receive({ wait: "10s" });
      receiving.catch(() => {});
      await stage.harness.elapse(100);
      assert.equal((await queue.counts()).due, 1);
      await queue.resume();
      const [delivery] = await stage.passing(receiving, "it is received", 2 * second);
      assert.deepEqual([delivery?.id, delivery?.attempt], ["a", 1]);
    }),
  },
  {
    operation: "receive",
    name: "Receiving that is aborted rejects with the reason of its signal, and what it took is due again without an attempt",
    run: onStage(async (stage) => {
      const gone = new AbortController();
      let claims = 0;
      const engine = interposed(stage.harness.engine, {
        async around(operation, call) {
          const answer = await call();
          // Aborts when the message is taken and the answer is on its way.
          if (tookSomething(operation, answer) && claims++ === 0) {
            gone.abort(new Error("enough"));
          }
          return answer;
        },
      });
      const receiving = textQueue(stage, engine).receive({ wait: "10s", signal: gone.signal });
      receiving.catch(() => {});
      await stage.harness.elapse(50);
      await stage.put("a");
      await assert.rejects(stage.passing(receiving, "it is aborted", 2 * second), { message: "enough" });
      const back = async () => (await stage.queue.counts()).due === 1;
      await stage.harness.until(back, "the message is handed back", second);
      assert.equal((await stage.take()).messages[0]?.attempt, 1, "no attempt is used");
    }),
  },
];
