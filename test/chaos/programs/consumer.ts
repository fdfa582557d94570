// A consumer as a process of its own. It writes down what it is given, does and is told.
import { setTimeout as sleep } from "node:timers/promises";
import { binaryCodec } from "../../../src/codec.js";
import type { Delivery } from "../../../src/consumer/delivery.js";
import { redisEngine } from "../../../src/engines/redis/engine.js";
import { PunctualError } from "../../../src/errors.js";
import { Queue } from "../../../src/queue.js";
import { chaosMessage, digestOf, lease, limits, numberOf } from "../chaos-message.js";
import { type Ending, Journal } from "../journal.js";
import type { ProcessOptions } from "../chaos-process.js";

const { name, url, queue, folder, seed, messages } = JSON.parse(process.argv[2] ?? "") as ProcessOptions;
const { write } = new Journal(folder, name);
const engine = redisEngine({ url });
/** What was released here. */
const released = new Set<string>();

const consumer = new Queue<Uint8Array>(queue, { engine, codec: binaryCodec() })
  .consume(handle, { concurrency: 50, lease, retry: { attempts: limits.others, backoff: (attempt) => 40 * attempt } })
  .on("acknowledged", (message) => ended(message, "acknowledged"))
  .on("retried", (message) => ended(message, "retried"))
  // One that a claim buried has no attempt here; Redis is asked about it in the end.
  .on("buried", (message) => "attempt" in message && ended(message as Delivery<Uint8Array>, "buried"))
  .on("leaseLost", ({ id, attempt }, { code }) => write({ kind: "lost", id, attempt, code }))
  .on("error", (error, message) => write({ kind: "failed", id: message?.id ?? "", code: codeOf(error) }));

process.on("disconnect", () => process.exit());
process.on("message", (order) => {
  if (order === "close") void close();
});

async function handle(message: Delivery<Uint8Array>): Promise<void> {
  const { id, attempt, payload } = message;
  write({ kind: "started", id, attempt, dueAt: message.dueAt.getTime(), digest: digestOf(payload) });
  const number = numberOf(id, messages);
  const { act, takes } = number === undefined ? { act: "succeed", takes: 0 } : chaosMessage(seed, number);
  if (takes > 0) await sleep(takes);
  const ending = (how: Ending) => write({ kind: "ending", id, attempt, how });
  if (act === "fail-always" || (act === "fail-once" && attempt === 1)) {
    ending("retried");
    throw new Error("as planned");
  }
  if (act === "release-once" && !released.has(id)) {
    released.add(id);
    ending("released");
    await message.release();
    return ended(message, "released");
  }
  if (act === "bury") {
    ending("buried");
    return await message.bury("as planned");
  }
  ending("acknowledged");
}

function ended({ id, attempt }: Delivery<Uint8Array>, how: Ending): void {
  write({ kind: "ended", id, attempt, how });
}

function codeOf(error: unknown): string {
  return error instanceof PunctualError ? `${error.code}: ${error.message}` : String(error);
}

async function close(): Promise<void> {
  await consumer.close();
  await engine.close();
  process.disconnect();
}
