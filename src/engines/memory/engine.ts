import { type Clock, systemClock } from "../../clock.js";
import { type DeadLetterOptions, parseDeadLetterBounds } from "../../dead-letter-bounds.js";
import { type Duration, parseDuration } from "../../duration.js";
import type { Engine, EngineQueue } from "../../engine.js";
import { KeptQueue } from "./kept-queue.js";
import { MemoryQueue } from "./memory-queue.js";

export type { DeadLetterOptions };

/** How a memory engine runs. */
export interface MemoryEngineOptions {
  /** Decides what is due. Default: the clock of this machine. A test hands in a manual clock of `punctual/testing`. */
  clock?: Clock | undefined;
  /** How long a consumer is told to wait at most before it claims again, though nothing is due. Default 5 s. */
  poll?: Duration | undefined;
  /** Bounds the dead letters of each queue. Default: they stay until they are removed. */
  deadLetters?: DeadLetterOptions | undefined;
}

/**
 * An engine that keeps messages in the memory of this process: for tests, and for programs that may lose them when they
 * end. It keeps every promise of the contract as long as the process lives, and is the reference that other engines are
 * held against.
 */
export function memoryEngine(options: MemoryEngineOptions = {}): Engine {
  const { clock = systemClock } = options;
  const poll = parseDuration(options.poll ?? 5_000, "poll");
  const deadLetters = parseDeadLetterBounds(options.deadLetters);
  const queues = new Map<string, KeptQueue>();
  let closed = false;

  async function close(): Promise<void> {
    closed = true;
    for (const queue of queues.values()) queue.closed = true;
    queues.clear();
  }

  return {
    name: "memory",
    open(name, openOptions): EngineQueue {
      const kept = queues.get(name) ?? new KeptQueue({ clock, poll, deadLetters });
      if (closed) kept.closed = true;
      else queues.set(name, kept);
      return new MemoryQueue(kept, openOptions);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
