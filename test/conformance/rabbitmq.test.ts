import { type ChannelModel, connect } from "amqplib";
import { afterAll, describe, it } from "vitest";
import type { Engine } from "../../src/engine.js";
import { rabbitmqEngine } from "../../src/engines/rabbitmq/engine.js";
import { type PassingTime, type RegisterTest, realTime, runConformance } from "../../src/testing/conformance/index.js";
import { deviations } from "../rabbitmq/deviations.js";
import type { Bounds } from "../support/redis-conformance.js";
import { withRabbitmq } from "../support/rabbitmq-of-file.js";

const rabbitmq = withRabbitmq();
let queues = 0;

/**
 * Prefixes that no case uses now. All queues of a prefix share one ladder, and what waits there can only be counted
 * together: a case that shared it with others would count their messages. Making a ladder takes longer than most cases, so
 * it is emptied and used again.
 */
const free: string[] = [];
let prefixes = 0;
let broker: ChannelModel | undefined;
afterAll(() => broker?.close());

/** A prefix that no other case uses, with a ladder that is there and empty. */
async function takePrefix(): Promise<string> {
  const prefix = free.pop();
  if (prefix !== undefined) return prefix;
  const made = `suite-${++prefixes}`;
  await using engine = rabbitmqEngine({ url: rabbitmq.server.url, prefix: made });
  await engine.open("first").counts();
  return made;
}

async function givePrefixBack(prefix: string): Promise<void> {
  broker ??= await connect(rabbitmq.server.url);
  const channel = await broker.createChannel();
  // From the top down, as messages go, until none is on its way any more.
  for (let isEmpty = false; !isEmpty;) {
    isEmpty = true;
    for (let level = 35; level >= 0; level--) {
      const name = `${prefix}/delay/${String(level).padStart(2, "0")}`;
      if ((await channel.checkQueue(name)).messageCount === 0) continue;
      isEmpty = false;
      await channel.purgeQueue(name);
    }
  }
  await channel.close();
  free.push(prefix);
}

/**
 * A message takes its time from level to level, and most cases give it 20 ms and less. They say what is delivered, and how late
 * it is in a broker is said where it is measured.
 */
const lateness = 250;
const { elapse, until } = realTime();
const withLateness: PassingTime = {
  elapse: (duration) => elapse(duration + lateness),
  async until(condition, what, within) {
    await until(condition, what, within);
    // Whoever waits for so long waits for a due time.
    if (within >= 10_000) await elapse(lateness);
  },
};

const inTurn: RegisterTest = it;
const sideBySide: RegisterTest = it.concurrent;
/** Thousands of messages on the ladder keep the broker busy for seconds; what others wait for meanwhile would be late. */
const together: RegisterTest = (name, run, timeout) => (/\d,000 /.test(name) ? inTurn : sideBySide)(name, run, timeout);

runConformance(
  { describe, it, concurrently: together },
  {
    name: "rabbitmq",
    async open() {
      const engines: Engine[] = [];
      const prefix = await takePrefix();
      const open = (bounds?: Bounds) => {
        const engine = rabbitmqEngine({ url: rabbitmq.url, prefix, ...bounds });
        engines.push(engine);
        return engine;
      };
      return {
        engine: open(),
        other: open(),
        ...withLateness,
        bounded: (deadLetters) => open({ deadLetters }),
        queueName: () => `conformance-${++queues}`,
        async disturb() {
          rabbitmq.relay.cut();
        },
        async close() {
          await Promise.all(engines.map((one) => one.close()));
          await givePrefixBack(prefix);
        },
      };
    },
  },
  { timeout: 120_000, deviations },
);
