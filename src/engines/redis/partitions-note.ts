import type { Connected, EvaluateOptions } from "../../connection/supervisor.js";
import type { Patience } from "../../connection/supervisor-patience.js";
import { type ErrorCode, PunctualError } from "../../errors.js";

type Link = Pick<Connected, "connectionCount">;

/** How a note ends for want of time of the one call that makes it. Anything else concerns all that wait for it. */
const endsWithItsCaller: ReadonlySet<ErrorCode> = new Set(["not-sent", "outcome-unknown", "refused"]);

/**
 * Redis notes into how many partitions a queue is split; it may come back without that, and every new connection may be the
 * first that reaches it then. So a note holds for the connections that there were when it was sent: what runs on one of them
 * runs behind it. All partitions share it, and while it is under way nobody makes another.
 */
export class PartitionsNote {
  readonly #noted: Link;
  readonly #enlist: (options: EvaluateOptions) => Promise<void>;
  readonly #links: Set<Link>;
  /** The connection of each link when the last note was sent. */
  #heldOn: ReadonlyMap<Link, number> = new Map();
  #underWay: Promise<void> | undefined;

  /** `enlist` makes it on `noted`; it may run any number of times. */
  constructor(noted: Link, enlist: (options: EvaluateOptions) => Promise<void>) {
    this.#noted = noted;
    this.#enlist = enlist;
    this.#links = new Set([noted]);
  }

  /** Notes made from now on hold for the connections of this link, too. */
  covers(link: Link): void {
    this.#links.add(link);
  }

  /**
   * Resolves when the note holds for the present connection of a link, or when patience is over; undefined when it holds
   * already. Fails as the note does.
   */
  heldOn(link: Link, patience: Patience, signal: AbortSignal | undefined): Promise<void> | undefined {
    return this.#holdsOn(link) ? undefined : this.#untilHeldOn(link, patience, signal);
  }

  /** In a Cluster the note lies behind another server than the partition, which can lose it alone. */
  #holdsOn(link: Link): boolean {
    return this.#isUnchanged(this.#noted) && this.#isUnchanged(link);
  }

  #isUnchanged(link: Link): boolean {
    return this.#heldOn.get(link) === link.connectionCount;
  }

  async #untilHeldOn(link: Link, patience: Patience, signal: AbortSignal | undefined): Promise<void> {
    while (!this.#holdsOn(link) && patience.over === undefined) {
      if (this.#underWay === undefined) {
        this.#underWay = this.#make({ timeout: patience.left, signal });
        await this.#underWay;
      } else {
        await patience.outlasts(this.#underWay.catch(unlessItsCallerGaveUp));
      }
    }
  }

  async #make(options: EvaluateOptions): Promise<void> {
    let heldOn = this.#heldOn;
    const prepare = () => {
      heldOn = new Map(Array.from(this.#links, (link) => [link, link.connectionCount]));
      return undefined;
    };
    try {
      await this.#enlist({ ...options, prepare });
      this.#heldOn = heldOn;
    } catch (error) {
      // Whether it noted the number is of no concern to the caller, of whose call nothing was sent.
      if (!(error instanceof PunctualError) || error.code !== "outcome-unknown") throw error;
      throw new PunctualError("not-sent", error.message, { cause: error.cause, details: error.details });
    } finally {
      this.#underWay = undefined;
    }
  }
}

function unlessItsCallerGaveUp(error: unknown): void {
  if (!(error instanceof PunctualError) || !endsWithItsCaller.has(error.code)) throw error;
}
