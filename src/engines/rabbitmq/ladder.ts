/** The longest TTL that RabbitMQ takes for a queue: ten years, ms. */
const longestTtl = 315_360_000_000;

/** What a message loses on its way before the first level and at each level, ms; measured, see the page of this engine. */
const allowance = { start: 2, hop: 1 };

/** How far a message goes down the ladder. */
export interface Descent {
  /** The level at which it enters; undefined: none, it goes to the consumers at once. */
  readonly level: number | undefined;
  /**
   * The bits of the delay, the lowest level first, one word each, up to the highest that is set. Exchanges read them, and take
   * a while for each word; with the highest first every message would carry a word for each level that there is.
   */
  readonly bits: string;
  /** In how many levels it waits: each is a copy of the message. */
  readonly hops: number;
  /** How long it waits in them together, ms. */
  readonly delay: number;
}

/**
 * A ladder of queues in which messages wait: level n holds each of them for `grain * 2^n` ms, and then hands it to the level
 * below that the next bit of its delay names. In one queue all wait equally long, so that the first one always expires first;
 * with a delay of its own for each message one that waits long would hold back those behind it.
 */
export class Ladder {
  readonly grain: number;
  readonly levels: number;

  /** `grain`: how long the lowest level holds a message, ms. */
  constructor(grain: number) {
    this.grain = grain;
    this.levels = Math.floor(Math.log2(longestTtl / grain)) + 1;
  }

  /** The longest delay that it can hold, ms. */
  get longestDelay(): number {
    return this.grain * (2 ** this.levels - 1);
  }

  /** How long a level holds a message, ms. */
  ttl(level: number): number {
    return this.grain * 2 ** level;
  }

  /**
   * The way down for a message that is due in `delay` ms. It comes out a little early, by what it loses on its way and by what
   * the grain leaves: a consumer can hold a message back, but not make good for one that is late.
   */
  descent(delay: number): Descent {
    const rough = this.#ticks(delay - allowance.start);
    const ticks = this.#ticks(delay - allowance.start - allowance.hop * ones(rough));
    const bits = ticks.toString(2).split("").toReversed();
    return {
      level: ticks === 0 ? undefined : bits.length - 1,
      bits: bits.join("."),
      hops: ones(ticks),
      delay: ticks * this.grain,
    };
  }

  #ticks(delay: number): number {
    return Math.max(0, Math.min(Math.floor(delay / this.grain), 2 ** this.levels - 1));
  }
}

/** How many bits are set, also of numbers that have more than 32. */
function ones(ticks: number): number {
  return ticks.toString(2).replaceAll("0", "").length;
}
