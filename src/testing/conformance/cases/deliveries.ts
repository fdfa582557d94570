import assert from "node:assert/strict";
import type { Delivery } from "../../../consumer/delivery.js";
import type { EngineQueue } from "../../../engine.js";
import type { ConformanceCase } from "../conformance-case.js";
import { textQueue } from "../recorder.js";
import { hour, ids, newMessage, onStage, second } from "../stage.js";

/** Loops over the deliveries of a queue until the body says to break. */
async function loop(
  iterable: AsyncIterable<Delivery<string>>,
  body: (delivery: Delivery<string>) => Promise<"break" | "go on">,
): Promise<void> {
  for await (const delivery of iterable) if ((await body(delivery)) === "break") return;
}

async function states({ queue }: { queue: EngineQueue }): Promise<number[]> {
  const { scheduled, due, leased, dead } = await queue.counts();
  return [scheduled, due, leased, dead];
}

export const deliveriesCases: readonly ConformanceCase[] = [
  {
    promise: 2,
    operation: "deliveries",
    name: "At least once: two loops in two processes settle each of 300 messages as they come due, none twice",
    run: onStage(async (stage) => {
      const all = ids(300);
      await stage.queue.schedule(all.map((id, index) => newMessage(id, { due: { delay: index } })));
      const gone = new AbortController();
      const seen: string[] = [];
      const loops = [stage.harness.engine, stage.harness.other].map((engine) =>
        loop(textQueue(stage, engine).deliveries({ concurrency: 5, signal: gone.signal }), async (delivery) => {
          assert.ok(delivery.lateness >= 0);
          seen.push(delivery.id);
          await delivery.acknowledge();
          return "go on";
        }),
      );
      // Where the case fails before it comes to them, nobody else hears of their failures.
      for (const looping of loops) looping.catch(() => {});
      await stage.harness.until(() => seen.length >= all.length, "all are delivered", 40 * second);
      gone.abort();
      await stage.passing(Promise.all(loops), "an abort ends both without an error");
      assert.deepEqual(seen.toSorted(), all.toSorted());
      assert.deepEqual(await states(stage), [0, 0, 0, 0]);
    }),
  },
  {
    promise: 5,
    operation: "deliveries",
    name: "Bounded redelivery: a break hands back at once what the loop did not come to, without using an attempt",
    run: onStage(async (stage) => {
      await stage.queue.schedule(ids(10).map((id) => newMessage(id)));
      const held: Delivery<string>[] = [];
      const looping = loop(textQueue(stage).deliveries({ concurrency: 10 }), async (delivery) => {
        held.push(delivery);
        return held.length === 2 ? "break" : "go on";
      });
      await stage.passing(looping, "the loop is over");
      assert.deepEqual(
        held.map((delivery) => delivery.id),
        ["m-0", "m-1"],
      );
      assert.deepEqual(await states(stage), [0, 8, 2, 0]);
      const { messages } = await stage.take({ from: stage.otherQueue });
      assert.deepEqual(
        messages.map((message) => [message.id, message.attempt]),
        ids(10)
          .slice(2)
          .map((id) => [id, 1]),
      );
      await held[0]?.acknowledge();
      await held[1]?.retry({ delay: hour });
      assert.deepEqual(
        await states({ queue: stage.otherQueue }),
        [1, 0, 8, 0],
        "what the loop had taken can still be settled",
      );
    }),
  },
  {
    promise: 3,
    operation: "deliveries",
    name: "One lease at a time: what a loop holds longer than its lease is kept, also what it has not come to",
    run: onStage(async (stage) => {
      await stage.queue.schedule(ids(3).map((id) => newMessage(id)));
      const seen: [string, number][] = [];
      const looping = loop(textQueue(stage).deliveries({ concurrency: 3, lease: second }), async (delivery) => {
        seen.push([delivery.id, delivery.attempt]);
        if (seen.length === 1) await stage.harness.elapse(2.5 * second);
        assert.deepEqual((await stage.take({ from: stage.otherQueue })).ids, []);
        await delivery.acknowledge();
        return seen.length === 3 ? "break" : "go on";
      });
      await stage.passing(looping, "all three are settled", 10 * second);
      assert.deepEqual(
        seen,
        ids(3).map((id) => [id, 1]),
      );
    }),
  },
  {
    operation: "deliveries",
    name: "A loop that waits for a far message gets a nearer one in time, and an error in it ends it",
    run: onStage(async (stage) => {
      await stage.put("far", { due: { delay: hour } });
      const late: number[] = [];
      const looping = loop(textQueue(stage).deliveries(), async (delivery) => {
        late.push(delivery.lateness);
        throw new Error(`no use for ${delivery.id}`);
      });
      looping.catch(() => {});
      await stage.harness.elapse(100);
      await stage.put("near", { due: { delay: 200 } });
      await assert.rejects(stage.passing(looping, "the loop has failed", 2 * second), { message: "no use for near" });
      assert.ok((late[0] ?? Infinity) < second, `${late[0]} ms late`);
    }),
  },
];
