import { setTimeout as sleep } from "node:timers/promises";
import type { MessageState } from "../../../src/engine.js";
import type { Queue } from "../../../src/queue.js";
import type { Crew } from "./crew.js";
import type { DeadLetter, Remains } from "./ledger.js";

/** How long it may take until less is left to do than ever before, ms: on a slow machine all takes longer, but goes on. */
const patience = 30_000;
/** What is due later than this is not waited for, ms: it was to be cancelled. */
const soon = 600_000;

/** Waits until nothing is left but dead letters and what is far away, or no progress is made any more. */
export async function drained(queue: Queue<Uint8Array>, crew: Pick<Crew, "letGo">): Promise<void> {
  let least = Infinity;
  let giveUpAt = Infinity;
  for (;;) {
    const { due, leased } = await queue.counts();
    const near = await queue.list({ state: "scheduled", to: new Date(Date.now() + soon), limit: 1_000 });
    const left = near.messages.length + due + leased;
    if (left === 0 || performance.now() > giveUpAt) return;
    if (left < least) {
      least = left;
      giveUpAt = performance.now() + patience;
    }
    // A probe comes again when Redis has forgotten that it was done.
    crew.letGo();
    await sleep(100);
  }
}

/** What lies in Redis when all is over, and what `audit()` and `counts()` find wrong with it. */
export async function remainsIn(queue: Queue<Uint8Array>): Promise<Remains & { readonly found: readonly string[] }> {
  const { problems } = await queue.audit();
  const found = problems.map(({ kind, id, detail }) => `audit() says ${kind}: ${detail} ${id}`);
  const dead: DeadLetter[] = [];
  for await (const { id, attempt, buried } of all(queue, "dead")) {
    dead.push({ id, attempt, reason: buried?.reason ?? "" });
  }
  const scheduled: string[] = [];
  for await (const { id } of all(queue, "scheduled")) scheduled.push(id);
  const counts = await queue.counts();
  const sums = [counts.scheduled, counts.due, counts.leased, counts.dead];
  if (sums.join() !== [scheduled.length, 0, 0, dead.length].join()) {
    found.push(`counts() says ${sums.join()}; there are ${scheduled.length} scheduled and ${dead.length} dead`);
  }
  return { dead, scheduled, found };
}

async function* all(queue: Queue<Uint8Array>, state: MessageState) {
  let cursor: string | undefined;
  do {
    const page = await queue.list({ state, limit: 1_000, cursor });
    yield* page.messages;
    cursor = page.cursor;
  } while (cursor !== undefined);
}
