import type { PunctualError } from "../../errors.js";
import { unsupported } from "../../unsupported.js";
import type { Ladder } from "./ladder.js";
import type { Names } from "./names.js";

/** Where in the broker a message is put. */
export interface Place {
  readonly exchange: string;
  readonly routingKey: string;
  readonly headers?: Readonly<Record<string, unknown>> | undefined;
  /** Whether the broker says so when there is no queue for it. */
  readonly mandatory: boolean;
}

/** The longest delay that the plugin takes, ms. */
const longestOfPlugin = 2 ** 32 - 1;

/** Where the messages of one queue are put. */
export class Places {
  readonly #names: Names;
  readonly #ladder: Ladder;
  readonly #mode: "ladder" | "plugin";
  readonly #queue: string;

  constructor(names: Names, ladder: Ladder, mode: "ladder" | "plugin", queue: string) {
    this.#names = names;
    this.#ladder = ladder;
    this.#mode = mode;
    this.#queue = queue;
  }

  /** The longest delay that a message can have, ms. */
  get longestDelay(): number {
    return this.#mode === "plugin" ? longestOfPlugin : this.#ladder.longestDelay;
  }

  /** What a message with a longer delay is refused with. */
  tooLate(delay: number): PunctualError {
    const { longestDelay } = this;
    const limit = this.#mode === "plugin" ? "the limit of the plugin" : "the height of the ladder";
    const reason = `${longestDelay} ms is the most, ${limit}`;
    const details = { operation: "schedule", delay, longestDelay } as const;
    return unsupported("rabbitmq", `hold a message back for ${Math.ceil(delay)} ms`, reason, details);
  }

  /** Where a message waits that is due in `delay` ms. */
  waiting(delay: number): Place {
    // No longer than it can; the consumer sends on what comes out too early.
    if (this.#mode === "plugin") return this.#inPlugin(Math.min(Math.ceil(delay), longestOfPlugin));
    const { level, bits } = this.#ladder.descent(delay);
    if (level === undefined) return this.due();
    return {
      exchange: this.#names.level(level),
      routingKey: `${this.#names.word(this.#queue)}.${bits}`,
      mandatory: true,
    };
  }

  /** Where consumers take it from. */
  due(): Place {
    return { exchange: "", routingKey: this.#names.work(this.#queue), mandatory: true };
  }

  /** With the dead letters. */
  dead(): Place {
    return { exchange: "", routingKey: this.#names.dead(this.#queue), mandatory: true };
  }

  /** The plugin says of every message that there is no queue for it, for there is none yet. */
  #inPlugin(delay: number): Place {
    if (delay <= 0) return this.due();
    const headers = { "x-delay": delay };
    return { exchange: this.#names.delayed, routingKey: this.#names.work(this.#queue), headers, mandatory: false };
  }
}
