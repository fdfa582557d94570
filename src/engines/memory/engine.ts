import { type Clock, systemClock } from "../../clock.js";
import { type DeadLetterOptions, parseDeadLetterBounds } from "../../dead-letter-bounds.js";
import { type Duration, parseDuration } from "../../duration.js";
import type { Engine, EngineQueue } from "../../engine.js";
import { invalidArgument, invalidValue } from "../../invalid-argument.js";
import { checkOptionNames } from "../../option-names.js";
import { KeptQueue } from "./kept-queue.js";
import { MemoryQueue } from "./memory-queue.js";

export type { DeadLetterOptions };

/** How a memory engine runs. */
export interface MemoryEngineOptions {
  /** Decides what is due. Default: the clock of this machine. A test hands in a manual clock of `punctual/testing`. */
  clock?: Clock | undefined;
  /** How long a consumer is told to wait at most before it claims again, though nothing is due; at least 1 ms. Default 5 s. */
  poll?: Duration | undefined;
  /** Bounds the dead letters of each queue. Default: they stay until they are removed. */
  deadLetters?: DeadLetterOptions | undefined;
}

const names = new Set(["clock", "poll", "deadLetters"]);

/**
 * An engine that keeps messages in the memory of this process: for tests, and for programs that may lose them when they
 * end. It keeps every promise of the contract as long as the process lives, and is the reference that other engines are
 * held against.
 *
 * Throws `invalid-argument` when an option is wrong.
 */
export function memoryEngine(options: MemoryEngineOptions = {}): Engine {
  checkOptionNames(options, names, "options");
  const { clock = systemClock } = options;
  // It would be missed only when a timer is set, in the background.
  const operations = ["now", "runAt", "elapsed", "runAfter"] as const;
  if (operations.some((operation) => typeof clock?.[operation] !== "function")) {
    throw invalidValue("clock", clock, "a clock, such as manualClock() of punctual/testing");
  }
  const poll = parsePoll(options.poll ?? 5_000);
  const deadLetters = parseDeadLetterBounds(options.deadLetters);
  const queues = new Map<string, KeptQueue>();
  let closed = false;

  async function close(): Promise<void> {
    closed = true;
    for (const queue of queues.values()) queue.close();
    queues.clear();
  }

  return {
    name: "memory",
    open(name, openOptions): EngineQueue {
      const kept = queues.get(name) ?? new KeptQueue({ clock, poll, deadLetters });
      if (closed) kept.close();
      else queues.set(name, kept);
      return new MemoryQueue(name, kept, openOptions);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** With 0 a consumer that has nothing to do would claim without a pause. */
function parsePoll(duration: Duration): number {
  const poll = parseDuration(duration, "poll");
  if (poll >= 1) return poll;
  throw invalidArgument("poll", "poll is 0 ms", "1 ms or longer");
}
