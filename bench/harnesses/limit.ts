import type { Harness, OpenHarness, Payload } from "../harness.js";
import { LinePipe } from "../line-pipe.js";

/** Messages that this process has stored: each has an id of its own, in whatever harness. */
let stored = 0;

/** Messages that one turn takes, whatever the concurrency: more gain nothing. */
const most = 1_000;

/**
 * The same bytes as bare commands: a sorted set of ids by due time and a hash of payloads, one ZADD and one HSET a message, one
 * ZPOPMIN and one HDEL. No script, no lease, no promise: what Redis and a socket can do with two structures.
 */
export const open: OpenHarness = async ({ url, queue }): Promise<Harness> => {
  const pipe = await LinePipe.connect(url);
  const keys = { schedule: `${queue}:schedule`, messages: `${queue}:messages` };
  let closing = false;
  const consumers: Promise<void>[] = [];

  const store = (payload: Payload) => {
    const id = String(++stored);
    return (
      command("ZADD", keys.schedule, String(payload.dueAt), id) +
      command("HSET", keys.messages, id, JSON.stringify(payload))
    );
  };
  // The payloads, not the ids: those of the last are still to be removed when all ids are popped.
  const pending = async () => Number((await pipe.send(command("HLEN", keys.messages), 1))[0]?.slice(1));

  return {
    scheduleMany: (payloads) => pipe.send(payloads.map(store).join(""), 2 * payloads.length),
    schedule: (payload) => pipe.send(store(payload), 2),
    async consume(deliver, concurrency) {
      const batch = Math.min(most, concurrency);
      const pop = command("ZPOPMIN", keys.schedule);
      // What is due when it starts; it takes nothing that comes due later.
      const due = command("ZCOUNT", keys.schedule, "-inf", String(Date.now()));
      let delivered = 0;
      let left = Number((await pipe.send(due, 1))[0]?.slice(1));
      const drain = async () => {
        // Removing goes out with taking the next, as acknowledging does elsewhere.
        let removals: string[] = [];
        while (!closing && left + removals.length > 0) {
          const taken = Math.min(batch, left);
          left -= taken;
          const lines = await pipe.send(removals.join("") + pop.repeat(taken), removals.length + 5 * taken);
          const popped = lines.slice(removals.length);
          removals = Array.from({ length: taken }, (_, at) => {
            // A pair of bulk strings has five lines: `*2`, a length, the id, a length, the due time.
            const id = popped[5 * at + 2] ?? "";
            // No payload is read that would say the number.
            deliver({ number: delivered++, dueAt: Number(popped[5 * at + 4]) });
            return command("HDEL", keys.messages, id);
          });
        }
      };
      // Two at a time, so that the server works while replies are read.
      consumers.push(drain(), drain());
    },
    pending,
    async close() {
      closing = true;
      await Promise.all(consumers);
      pipe.close();
    },
  };
};

/** A command in the protocol of Redis; all that is sent here is ASCII. */
function command(...parts: readonly string[]): string {
  return `*${parts.length}\r\n${parts.map((part) => `$${part.length}\r\n${part}\r\n`).join("")}`;
}
