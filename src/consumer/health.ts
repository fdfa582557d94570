/** How a consumer is. */
export interface ConsumerHealth {
  /**
   * `starting`: the store has not answered yet. `running`: it answered a claim within the last 7.5 s. `recovering`: it did
   * not, or says that it is out of reach; the consumer goes on trying. `closing`: `close` was called. `closed`: it is over.
   */
  readonly state: "starting" | "running" | "recovering" | "closing" | "closed";
  /** When the last claim was answered, by the clock of the engine; a claim that found nothing counts. */
  readonly lastClaimAt?: Date;
  /** Handlers at work. */
  readonly active: number;
}

/** A reply older than this proves nothing, ms: consumers claim every 5 s, and half of that again is for a slow one. */
const freshFor = 7_500;

/** Keeps what health is judged by. */
export class HealthRecord {
  #lastClaimAt: number | undefined;
  #answeredAt = 0;
  #isOut = false;

  /** Whether an outage goes on. */
  get isOut(): boolean {
    return this.#isOut;
  }

  /**
   * A claim was answered, at this time of the engine; `elapsed` is the time by which freshness is judged. It ends an outage,
   * unless the watch still hears nothing.
   */
  answered(at: number, elapsed: number, isHeard = true): void {
    this.#lastClaimAt = at;
    this.#answeredAt = elapsed;
    if (isHeard) this.#isOut = false;
  }

  /** The store is out of reach. */
  interrupted(): void {
    this.#isOut = true;
  }

  /** The health of a consumer that is in this phase of its life. */
  health(phase: "open" | "closing" | "closed", active: number, elapsed: number): ConsumerHealth {
    const lastClaimAt = this.#lastClaimAt;
    return {
      state: phase === "open" ? this.#openState(elapsed) : phase,
      active,
      ...(lastClaimAt === undefined ? {} : { lastClaimAt: new Date(lastClaimAt) }),
    };
  }

  #openState(elapsed: number): "starting" | "running" | "recovering" {
    if (this.#isOut) return "recovering";
    if (this.#lastClaimAt === undefined) return "starting";
    return elapsed - this.#answeredAt <= freshFor ? "running" : "recovering";
  }
}
