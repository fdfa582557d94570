import { setTimeout as sleep } from "node:timers/promises";
import type { Connection, Reply } from "../../src/clients/port.js";
import { startConsumers } from "../consumer-process.js";
import { scheduleFarOff } from "../far-off.js";
import type { Harness } from "../harness.js";
import { measureLateness } from "../measure-lateness.js";
import { assertNotYetDue } from "../not-yet-due.js";
import { payloadOf } from "../payloads.js";
import { scheduleInPieces } from "../pieces.js";
import type { Found, Scenario, Stage } from "../scenario.js";

const messages = 1_000_000;

/** Messages that are stored to find out how long storing all will take. */
const trial = 20_000;

/** The share of them that a window may begin with: those who take minutes for all need not be filled up each time. */
const enough = 0.8;

/** From how many µs on the server notes a command here, and elsewhere, and how many it keeps. */
const noted = { from: 200, usually: 10_000, most: 100_000 };

/** The longest of the commands that the server has noted, ms; 0 when all were shorter. */
async function longestCommand(connection: Connection): Promise<number> {
  const log = await connection.send(["SLOWLOG", "GET", String(noted.most)]);
  const microseconds = Array.isArray(log) ? log.map(durationOf) : [];
  return microseconds.reduce((longest, one) => Math.max(longest, one), 0) / 1_000;
}

/** An entry begins with its number, when it was, and how long it took. */
function durationOf(entry: Reply): number {
  const duration = Array.isArray(entry) ? entry[2] : undefined;
  if (typeof duration !== "number") throw new TypeError("An entry of SLOWLOG does not say how long its command took.");
  return duration;
}

/** How many messages a second it stores, found with a few in a queue of their own: subjects differ tenfold. */
async function storingPace(harness: Harness): Promise<number> {
  const started = performance.now();
  await scheduleFarOff(harness, trial);
  return (1_000 * trial) / (performance.now() - started);
}

/**
 * Schedules so many more messages that come due in one ms, and waits until they are. It leaves half as long again as storing them
 * takes, and a second: what is due when it is stored some would never delay.
 */
async function fillUp(producer: Harness, count: number, pace: number): Promise<void> {
  const dueAt = Math.ceil(Date.now() + 1_000 + (1.5 * 1_000 * count) / pace);
  await scheduleInPieces(producer, count, (first, some) =>
    Array.from({ length: some }, (_, at) => payloadOf(first + at, dueAt)),
  );
  assertNotYetDue("The last were scheduled", dueAt);
  await sleep(Math.max(0, dueAt - Date.now()));
}

/** What happens to another queue, and on the server, while one process consumes what is due. */
async function measureWindow(stage: Stage, producer: Harness, window: number): Promise<Found> {
  const { connection, open, queue, subject, url } = stage;
  await connection.send(["SLOWLOG", "RESET"]);
  let consumers: AsyncDisposable | undefined;
  try {
    const late = await measureLateness(
      { connection, open: () => open(`other-${window}`) },
      {
        messages: 300,
        spread: 2_000,
        concurrency: 10,
        // Not before: a server that does nothing else for seconds would let nobody schedule what is then late.
        async whenScheduled() {
          consumers = await startConsumers(1, { subject: subject.name, url, queue: queue(), concurrency: 1_000 });
        },
      },
    );
    // What is left now was there when the last of the other queue came due, too.
    if ((await producer.pending()) === 0) {
      throw new Error(
        "All messages were gone before the other queue was done, so its lateness says little. Measure with more messages.",
      );
    }
    return {
      "longest command": await longestCommand(connection),
      "lateness of another queue, p50": late.percentile(50),
      "lateness of another queue, p99": late.percentile(99),
    };
  } finally {
    await consumers?.[Symbol.asyncDispose]();
  }
}

export const dueAtOnce: Scenario = {
  name: "due-at-once",
  title: "A million messages that are due at once, and another queue meanwhile",
  cases: [
    {
      name: "due-at-once",
      title: `While ${messages.toLocaleString("en")} messages are due and one process consumes them`,
      figures: [
        { name: "longest command", unit: "ms", better: "less" },
        { name: "lateness of another queue, p50", unit: "ms", better: "less" },
        { name: "lateness of another queue, p99", unit: "ms", better: "less" },
      ],
      kinds: ["punctual", "peer"],
      // Slower ones would take minutes to get there.
      leastPace: 15_000,
      isCold: true,
      windows: "in turn",
      async measure(stage) {
        const { open, connection, scale, windows } = stage;
        const count = Math.ceil(messages * scale);
        const pace = await storingPace(await open("trial"));
        const producer = await open();
        await connection.send(["CONFIG", "SET", "slowlog-log-slower-than", String(noted.from)]);
        await connection.send(["CONFIG", "SET", "slowlog-max-len", String(noted.most)]);
        try {
          const found: Found[] = [];
          while (found.length < windows) {
            const left = await producer.pending();
            if (left < enough * count) await fillUp(producer, count - left, pace);
            found.push(await measureWindow(stage, producer, found.length));
          }
          return found;
        } finally {
          await connection.send(["CONFIG", "SET", "slowlog-log-slower-than", String(noted.usually)]);
        }
      },
    },
  ],
};
