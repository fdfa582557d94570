// A producer as a process of its own: its parent tells it runs of numbers, and it says of each when all of it is done.
import { setTimeout as sleep } from "node:timers/promises";
import { binaryCodec } from "../../../src/codec.js";
import { redisEngine } from "../../../src/engines/redis/engine.js";
import { PunctualError } from "../../../src/errors.js";
import { Queue } from "../../../src/queue.js";
import { type ChaosMessage, chaosMessage } from "../chaos-message.js";
import type { ProcessOptions, Share } from "../chaos-process.js";
import { Journal } from "../journal.js";

const { name, url, queue: queueName, folder, seed } = JSON.parse(process.argv[2] ?? "") as ProcessOptions;
const { write } = new Journal(folder, name);
const engine = redisEngine({ url });
// What a killed producer was not told is scheduled again by another one, perhaps after it was delivered.
const queue = new Queue<Uint8Array>(queueName, { engine, codec: binaryCodec(), rememberFor: "1h" });

process.on("disconnect", () => process.exit());
process.on("message", (share) => void produce(share as Share));

/** One share after the other is scheduled, so that each is done soon; cancelling takes until it is due. */
let turn: Promise<unknown> = Promise.resolve();

async function produce(share: Share): Promise<void> {
  const messages = Array.from({ length: share.end - share.first }, (_, index) =>
    chaosMessage(seed, share.first + index),
  );
  // In one call, or in as many as there are messages.
  const batches = share.first % 3 === 0 ? messages.map((message) => [message]) : [messages];
  try {
    turn = turn.then(() => Promise.all(batches.map(schedule)));
    await turn;
    await Promise.all(messages.map(cancel));
    process.send?.(share);
  } catch (error) {
    write({
      kind: "failed",
      id: "",
      code: error instanceof PunctualError ? `${error.code}: ${error.message}` : String(error),
    });
    // The parent gives what it had to another one.
    process.exit(1);
  }
}

async function schedule(messages: readonly ChaosMessage[]): Promise<void> {
  write(...messages.map(({ id }) => ({ kind: "asked", id }) as const));
  const results = await queue.scheduleMany(
    messages.map(({ id, payload, delay, act, attempts }) => ({
      payload,
      id,
      delay,
      ...(act === "fail-always" ? { attempts } : {}),
    })),
  );
  write(...results.map(({ id, outcome, dueAt }) => ({ kind: "told", id, outcome, dueAt: dueAt.getTime() }) as const));
}

async function cancel({ id, cancelAfter }: ChaosMessage): Promise<void> {
  if (cancelAfter === undefined) return;
  await sleep(cancelAfter);
  write({ kind: "cancelling", id });
  write({ kind: "cancelled", id, outcome: await queue.cancel(id) });
}
