import { setTimeout as sleep } from "node:timers/promises";
import { scheduleAll } from "../bulk.js";
import { scheduleFarOff } from "../far-off.js";
import { assertNotYetDue } from "../not-yet-due.js";
import { payloadOf } from "../payloads.js";
import type { Case, Found, Scenario, Stage } from "../scenario.js";
import type { Kind } from "../subjects.js";
import { untilGone } from "../until-gone.js";

/** How long before they are due the messages of a window are scheduled, ms: all of them, by every subject. */
const ahead = 2_000;

/** The most messages that a window schedules in bulk: those who drain faster store no faster, and all have to be stored in time. */
const mostInBulk = 50_000;

const concurrency = 1_000;

/** Schedules messages in bulk, then some more one by one, and drains them: what waits for later is as much as before. */
async function measureWindow({ open, subject, scale }: Stage): Promise<Found> {
  const producer = await open();
  const others = await producer.pending();
  const inBulk = Math.ceil(Math.min(subject.pace, mostInBulk) * scale);
  const alone = Math.ceil(inBulk / 5);
  const dueAt = Date.now() + ahead;
  const payloads = Array.from({ length: inBulk + alone }, (_, number) => payloadOf(number, dueAt));

  const schedule = await timed(inBulk, () => scheduleAll(producer, payloads.slice(0, inBulk)));
  const singles = payloads.slice(inBulk).values();
  const single = await timed(alone, async () => {
    await Promise.all(
      Array.from({ length: concurrency }, async () => {
        for (const payload of singles) await producer.schedule(payload);
      }),
    );
  });
  assertNotYetDue("The last were scheduled", dueAt);
  await sleep(Math.max(0, dueAt + 1 - Date.now()));
  const consumer = await open();
  const drain = await timed(payloads.length, () => untilGone(consumer, payloads.length, concurrency, { others }));
  await Promise.all([producer.close(), consumer.close()]);
  return { schedule, single, drain };
}

async function timed(count: number, work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return (1_000 * count) / (performance.now() - started);
}

function caseWith(pending: number, kinds: readonly Kind[], { leastPace = 0, isOnlyNamed = false } = {}): Case {
  return {
    name: `growth-${pending}`,
    title: `With ${pending.toLocaleString("en")} messages pending`,
    figures: (["schedule", "single", "drain"] as const).map((name) => ({ name, unit: "messages/s", better: "more" })),
    kinds,
    leastPace,
    isOnlyNamed,
    isCold: true,
    windows: "in turn",
    async measure(stage) {
      const filler = await stage.open();
      await scheduleFarOff(filler, Math.ceil(pending * stage.scale));
      await filler.close();
      // It warms up, as long as it does not matter how long it takes.
      await measureWindow({ ...stage, scale: stage.scale / 4 });
      const found: Found[] = [];
      while (found.length < stage.windows) found.push(await measureWindow(stage));
      return found;
    },
  };
}

export const growth: Scenario = {
  name: "growth",
  title: "Schedule, in bulk and one by one, 1,000 calls at a time, and drain, while many messages wait for later",
  cases: [
    caseWith(10_000, ["punctual", "peer", "limit"]),
    // Slower ones would take minutes to get there.
    caseWith(1_000_000, ["punctual", "peer", "limit"], { leastPace: 10_000 }),
    caseWith(10_000_000, ["punctual", "limit"], { isOnlyNamed: true }),
  ],
};
