import type { Connection } from "../src/clients/port.js";
import type { Harness } from "./harness.js";
import type { Kind, Subject } from "./subjects.js";

/** One thing that a case measures. */
export interface Figure {
  readonly name: string;
  readonly unit: string;
  readonly better: "more" | "less";
}

/** What a case is measured on: an empty Redis and one subject. */
export interface Stage {
  readonly subject: Subject;
  readonly url: string;
  /** To ask the server, apart from the connections of the subject. */
  readonly connection: Connection;
  /** How many times a case with windows is to look. */
  readonly windows: number;
  /** How much of the work is done: 1 in a full run, less to warm up and in a smoke run. */
  readonly scale: number;
  /** The name of the queue that is meant by `name`; one of its own in each run. */
  readonly queue: (name?: string) => string;
  /** Opens that queue of the subject; it is closed when the case is over. */
  readonly open: (name?: string) => Promise<Harness>;
}

/** What one run of a case found, by the names of its figures. */
export type Found = Readonly<Record<string, number>>;

/** One measurement of a scenario. */
export interface Case {
  /** Its own among all cases, such as `drain-1000`. */
  readonly name: string;
  readonly title: string;
  readonly figures: readonly Figure[];
  /** Who takes part. */
  readonly kinds: readonly Kind[];
  /** Leaves out subjects that drain fewer messages a second: they would only fall further behind. */
  readonly leastPace?: number;
  /** Says that it needs so much that it is left out unless it is named itself. */
  readonly isOnlyNamed?: boolean;
  /** How much of a full run warms it up, where the usual share is not enough calls to compile what they call. */
  readonly warmUpScale?: number;
  /** Says that what it counts is the same in a process that has just started, so no run warms it up. */
  readonly isCold?: boolean;
  /**
   * Says that all runs are windows of one, because it takes long to get there: it is measured once, and finds each of them. They
   * are one after the other, or they overlap.
   */
  readonly windows?: "in turn" | "overlapping";
  measure(stage: Stage): Promise<Found | readonly Found[]>;
  /** The same with redis-benchmark; left out where it cannot. */
  readonly bare?: (stage: Stage) => Promise<Found>;
}

/** Cases that belong together. */
export interface Scenario {
  readonly name: string;
  readonly title: string;
  readonly cases: readonly Case[];
}

/** The figure of cases that count messages in a second. */
export const rate: Figure = { name: "rate", unit: "messages/s", better: "more" };
