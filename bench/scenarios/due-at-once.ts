import { setTimeout as sleep } from "node:timers/promises";
import type { Connection, Reply } from "../../src/clients/port.js";
import { scheduleAll } from "../bulk.js";
import { startConsumers } from "../consumer-process.js";
import { measureLateness } from "../measure-lateness.js";
import { payloadOf } from "../payloads.js";
import type { Scenario } from "../scenario.js";

const messages = 1_000_000;

/** Messages that are made at a time, so that this process does not hold them all. */
const piece = 20_000;

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
      async measure({ open, subject, url, connection, scale, queue }) {
        const count = Math.ceil(messages * scale);
        const producer = await open();
        // By then all are stored, and the last of them was not due yet.
        const dueAt = Date.now() + 1_000 + (1_000 * count) / subject.pace;
        for (let first = 0; first < count; first += piece) {
          const some = Math.min(piece, count - first);
          await scheduleAll(
            producer,
            Array.from({ length: some }, (_, at) => payloadOf(first + at, dueAt)),
          );
        }
        await sleep(Math.max(0, dueAt - Date.now()));
        await connection.send(["CONFIG", "SET", "slowlog-log-slower-than", String(noted.from)]);
        await connection.send(["CONFIG", "SET", "slowlog-max-len", String(noted.most)]);
        await connection.send(["SLOWLOG", "RESET"]);
        let consumers: AsyncDisposable | undefined;
        try {
          const late = await measureLateness(
            { connection, open: () => open("other") },
            {
              messages: 300,
              spread: 3_000,
              concurrency: 10,
              // Not before: a server that does nothing else for seconds would let nobody schedule what is then late.
              async whenScheduled() {
                consumers = await startConsumers(1, { subject: subject.name, url, queue: queue(), concurrency: 1_000 });
              },
            },
          );
          return {
            "longest command": await longestCommand(connection),
            "lateness of another queue, p50": late.percentile(50),
            "lateness of another queue, p99": late.percentile(99),
          };
        } finally {
          await consumers?.[Symbol.asyncDispose]();
          await connection.send(["CONFIG", "SET", "slowlog-log-slower-than", String(noted.usually)]);
        }
      },
    },
  ],
};
