import { expect, it } from "vitest";
import { Reply, scriptedQueue } from "../../test/support/scripted-queue.js";
import { textCodec } from "../codec.js";
import type { ClaimResult, EngineQueue, Receipt, Watcher } from "../engine.js";
import { memoryEngine } from "../engines/memory/engine.js";
import { PunctualError } from "../errors.js";
import { Queue } from "../queue.js";
import { manualClock } from "../testing/manual-clock.js";
import { readConsumeOptions } from "./consume-options.js";
import { Gate } from "./gate.js";
import { PartitionedConsumer } from "./partitioned-consumer.js";

/** Two partitions that answer, and two whose claims wait for the test; and what those were asked to take back. */
function halfDown() {
  const clock = manualClock(0);
  const alive = memoryEngine({ clock });
  const claims: { token: string; reply: Reply<ClaimResult> }[] = [];
  const returned: Receipt[] = [];
  const watchers: Watcher[] = [];
  const hanging = (): EngineQueue =>
    scriptedQueue(clock, {
      async watch(_, watcher) {
        watchers.push(watcher);
        return { [Symbol.asyncDispose]: async () => {} };
      },
      claim({ token }) {
        const reply = new Reply<ClaimResult>();
        claims.push({ token, reply });
        return reply.promise;
      },
      async release(receipts) {
        returned.push(...receipts);
        return receipts.map(() => "settled");
      },
    });
  const partitions = [alive.open("a"), hanging(), alive.open("b"), hanging()];
  const lose = () => {
    for (const watcher of watchers) watcher.interrupted(new PunctualError("not-sent", "It is out of reach."));
  };
  const put = async (queue: string, ...ids: string[]) => {
    await new Queue<string>(queue, { engine: alive, codec: textCodec() }).scheduleMany(
      ids.map((id) => ({ payload: id, id, delay: 0 })),
    );
  };
  return { clock, partitions, claims, returned, lose, put };
}

it("partitions that are out of reach take no room from the others", async () => {
  const { clock, partitions, lose, put } = halfDown();
  const handled: string[] = [];
  const settings = readConsumeOptions({ concurrency: 2 });
  const consumer = new PartitionedConsumer(partitions, textCodec(), ({ id }) => void handled.push(id), settings);
  consumer.on("error", () => {});
  consumer.start();
  await clock.advance(0);
  lose();
  await put("a", "a1", "a2", "a3");
  await put("b", "b1", "b2", "b3");
  await clock.advance(100);
  expect(handled.toSorted()).toEqual(["a1", "a2", "a3", "b1", "b2", "b3"]);
});

it("partitions that have not answered for 250 ms take no room from the others", async () => {
  const { clock, partitions, put } = halfDown();
  const handled: string[] = [];
  const settings = readConsumeOptions({ concurrency: 1 });
  // The first one to claim is one that does not answer.
  const silentFirst = partitions.slice(1);
  const consumer = new PartitionedConsumer(silentFirst, textCodec(), ({ id }) => void handled.push(id), settings);
  consumer.start();
  await put("b", "b1", "b2", "b3");
  await clock.advance(249);
  expect(handled).toEqual([]);
  await clock.advance(251);
  expect(handled).toEqual(["b1", "b2", "b3"]);
});

it("what a partition answers when others have its room goes back, and uses no attempt", async () => {
  const { clock, partitions, claims, returned, lose, put } = halfDown();
  const handled: string[] = [];
  const busy = new Gate();
  const settings = readConsumeOptions({ concurrency: 2 });
  const handler = async ({ id }: { id: string }) => {
    handled.push(id);
    await busy.opened;
  };
  const consumer = new PartitionedConsumer(partitions, textCodec(), handler, settings);
  consumer.on("error", () => {});
  consumer.start();
  await clock.advance(0);
  lose();
  await put("a", "a1");
  await put("b", "b1");
  await clock.advance(100);
  expect(handled).toHaveLength(2);
  const late = { id: "late", payload: Buffer.from("late"), dueAt: 0, attempt: 1, attempts: 5 };
  const leaseUntil = clock.now() + 30_000;
  const { token, reply } = claims[0]!;
  reply.give({ messages: [late], leaseUntil, now: clock.now(), nextAt: Infinity, buried: [], missing: [] });
  await clock.advance(100);
  expect(handled).toHaveLength(2);
  expect(returned).toMatchObject([{ id: "late", token, leaseUntil }]);
});
