import { seededRandom } from "./seeded-random.js";

/** What a run of the workload does. All times are ms. */
export interface Scenario {
  /** How many messages are scheduled. */
  readonly messages: number;
  /** From the start of the run to the earliest due time: room to schedule all of them before the first comes due. */
  readonly lead: number;
  /** Due times lie, evenly at random, in a stretch of this length. */
  readonly spread: number;
  /** Consumers, all in this process. */
  readonly consumers: number;
  /** Handlers that each consumer runs at the same time. */
  readonly concurrency: number;
  /** One in so many messages fails when it is delivered for the first time; 0: none does. */
  readonly failOneIn: number;
  /** How long after a failure such a message is due again. */
  readonly retryDelay: number;
  /** One in so many messages is to be cancelled, most of them close to their due time; 0: none is. */
  readonly cancelOneIn: number;
  /** The lease of a delivery. */
  readonly lease: number;
  /** The same seed gives the same due times, failures and cancellations. */
  readonly seed: number;
}

/** The scenario of `npm run demo`. */
export const demoScenario: Scenario = {
  messages: 100_000,
  lead: 3_000,
  spread: 5_000,
  consumers: 10,
  concurrency: 100,
  failOneIn: 1_000,
  retryDelay: 100,
  cancelOneIn: 100,
  lease: 5_000,
  seed: 1,
};

/**
 * A short run of the same kind. Node compiles a function only when it has been called often; a process that has just
 * started would show that as lateness of the first messages, as no worker does that has been up for a second.
 */
export function warmUpOf(scenario: Scenario): Scenario {
  return { ...scenario, messages: Math.min(10_000, scenario.messages), lead: 100, spread: 500 };
}

/** What is to happen to each message of a run, by its number. */
export interface Plan {
  /** The due time asked for, Unix ms by the clock of the engine. */
  readonly dueAt: Float64Array;
  /** 1 for a message whose first delivery fails. */
  readonly fails: Uint8Array;
  /** When which message is to be cancelled, in the order of time. */
  readonly cancellations: readonly { readonly number: number; readonly at: number }[];
}

/** Makes the plan of a run that starts at `start`. The same scenario gives the same plan, moved to that start. */
export function makePlan(scenario: Scenario, start: number): Plan {
  const random = seededRandom(scenario.seed);
  const dueAt = new Float64Array(scenario.messages);
  const fails = new Uint8Array(scenario.messages);
  const cancellations: { number: number; at: number }[] = [];
  for (let number = 0; number < scenario.messages; number += 1) {
    const due = Math.ceil(start + scenario.lead + random() * scenario.spread);
    dueAt[number] = due;
    if (random() < chance(scenario.failOneIn)) fails[number] = 1;
    // The square brings most cancellations close to the due time, and some past it: there they race with the delivery.
    if (random() < chance(scenario.cancelOneIn)) cancellations.push({ number, at: due + 3 - 1_000 * random() ** 2 });
  }
  cancellations.sort((one, other) => one.at - other.at);
  return { dueAt, fails, cancellations };
}

function chance(oneIn: number): number {
  return oneIn === 0 ? 0 : 1 / oneIn;
}
