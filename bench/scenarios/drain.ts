import { setTimeout as sleep } from "node:timers/promises";
import { scheduleAll } from "../bulk.js";
import type { Harness } from "../harness.js";
import { assertNotYetDue } from "../not-yet-due.js";
import { payloadOf } from "../payloads.js";
import { takingRate } from "../redis-benchmark.js";
import { type Case, rate, type Scenario } from "../scenario.js";
import { untilGone } from "../until-gone.js";

/** For about how long there is work, s. */
const seconds = 0.7;

/** How long before it is due a message is scheduled, ms, and how many are scheduled with one due time. */
const ahead = 1_000;
const piece = 2_000;

/** Schedules messages and waits until all are due. What is due when it is scheduled, some subjects would never delay. */
async function fillWithDue(harness: Harness, count: number): Promise<void> {
  for (let first = 0; first < count; first += piece) {
    const dueAt = Date.now() + ahead;
    const some = Array.from({ length: Math.min(piece, count - first) }, (_, at) => payloadOf(first + at, dueAt));
    await scheduleAll(harness, some);
    assertNotYetDue("The last of a piece were scheduled", dueAt);
  }
  await sleep(ahead + 1);
}

function caseWith(concurrency: number): Case {
  return {
    name: `drain-${concurrency}`,
    title: `Drain of messages that are due, until the last is gone, ${concurrency.toLocaleString("en")} handlers at a time`,
    figures: [rate],
    kinds: ["punctual", "peer", "limit", ...(concurrency === 1_000 ? (["scheme"] as const) : [])],
    async measure({ open, scale, subject }) {
      const count = Math.max(1_000, Math.ceil(subject.pace * seconds * scale));
      await fillWithDue(await open(), count);
      const consumer = await open();
      const started = performance.now();
      await untilGone(consumer, count, concurrency);
      return { rate: (1_000 * count) / (performance.now() - started) };
    },
    ...(concurrency === 1_000 && {
      bare: async ({ url, connection, scale }) => ({
        rate: await takingRate(url, connection, Math.ceil(150_000 * scale)),
      }),
    }),
  };
}

export const drain: Scenario = {
  name: "drain",
  title: "Drain",
  cases: [caseWith(100), caseWith(1_000)],
};
