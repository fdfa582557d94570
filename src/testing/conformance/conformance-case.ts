import type { DeadLetterOptions } from "../../dead-letter-bounds.js";
import type { Engine, EngineQueue } from "../../engine.js";
import type { PassingTime } from "./passing-time.js";
import type { PromiseNumber } from "./promises.js";

/** What a case is about, besides a promise: an operation of the contract, or one of the queue or consumer above it. */
export type Operation =
  | keyof EngineQueue
  | "open"
  | "close"
  | "consume"
  | "receive"
  | "deliveries"
  | "scheduleMany"
  | "health"
  | "events";

/** One thing that every engine does, with the steps that show it. */
export interface ConformanceCase {
  /** The promise that it shows, by its number in the contract. */
  readonly promise?: PromiseNumber | undefined;
  /** The operation that it shows. */
  readonly operation?: Operation | undefined;
  /** A sentence, unique among all cases; that of a promise begins with the words of the promise. */
  readonly name: string;
  /**
   * Runs while no other case does, because it measures time or moves the clock of the process or breaks connections.
   * Default false.
   */
  readonly alone?: boolean | undefined;
  /** Rejects when the engine does not do what the name says. */
  run(harness: ConformanceHarness): Promise<void>;
}

/** An engine with what a case needs around it. Each case gets one of its own. */
export interface ConformanceHarness extends PassingTime {
  /** The engine under test. */
  readonly engine: Engine;
  /** A second one on the same store, as another process has it; the same one where the store lives in the process. */
  readonly other: Engine;
  /**
   * One that keeps dead letters within bounds, on the same store or on one of its own. It is closed with the others. Where
   * an engine has no such bounds, it throws a `PunctualError` of code `unsupported`.
   */
  bounded(deadLetters: DeadLetterOptions): Engine;
  /** Whether what a claim has taken is gone when nobody hears the answer: at most once. Default false. */
  readonly forgets?: boolean | undefined;
  /** A valid name that no queue in this store has had. */
  queueName(): string;
  /**
   * Cuts every connection to the store, as a restart of the server does; the store keeps what it has. Does nothing where
   * there is no connection.
   */
  disturb(): Promise<void>;
  /** Closes all engines and gives everything back. */
  close(): Promise<void>;
}

/** An engine that is held to the contract. */
export interface ConformanceSubject {
  /** The name of the engine, and of the suite. */
  readonly name: string;
  /** Makes a harness; called once a case. */
  open(): Promise<ConformanceHarness>;
}
