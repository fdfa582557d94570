import type { CancelTimer, Clock } from "../clock.js";
import type { ClaimRequest, ClaimResult, EngineQueue } from "../engine.js";
import { PunctualError } from "../errors.js";
import { BackOff } from "./back-off.js";

/** Takes what a claim brought; gives a promise when it hands that back instead. */
export type OnAnswer = (result: ClaimResult, token: string) => Promise<unknown> | void;

export interface ClaimLoopOptions {
  readonly queue: EngineQueue;
  /** Who claims: the name of the watch. */
  readonly consumer: string;
  /** How long leases last, ms. */
  readonly lease: number;
  /** Deliveries at most of a message that has no limit of its own. */
  readonly attempts: number;
  /** Whether it waits for more; see `ClaimRequest`. Default true. */
  readonly returns?: boolean | undefined;
  /** Names the leases of each claim. Default: the consumer and a count, for a consumer that has one loop in its life. */
  readonly newToken?: (() => string) | undefined;
  readonly random: () => number;
  /** How many messages there is room for now. */
  readonly room: () => number;
  /**
   * Whether the next claim leaves before the answer to the last one is taken, while more is due than that brought: so the store
   * works meanwhile, where it is not in this process. `room` must count what is `arriving`. Default false.
   */
  readonly ahead?: boolean | undefined;
  /** A claim goes out that may take so many. */
  readonly onClaim?: ((limit: number) => void) | undefined;
  /** What it brought is taken, or arriving. */
  readonly onClaimOver?: (() => void) | undefined;
  /** A claim was answered. `onAnswer` follows, at once or when the next claim has left. */
  readonly onArrival?: ((result: ClaimResult) => void) | undefined;
  /**
   * Takes what a claim brought. Called after `stop` too: then that must be handed back. A promise that it gives holds back the
   * next claim, which would reclaim what is on its way back; where that has left already, it holds back the one after it.
   */
  readonly onAnswer: OnAnswer;
  /** A try failed; called for each one. */
  readonly onFailure: (failure: unknown) => void;
}

/** A consumer that has no room says every so often that it is alive, ms. */
const heartbeat = 5_000;

/** Engines say when to claim again, never later than this, ms; if one does not, health must not suffer. */
const longestSilence = 6_000;

/** After so many claims without a timer, one that is due at once, so that the event loop gets a turn (see `#soon`). */
const claimsBeforeTurn = 200;

const turn = Promise.resolve();

/**
 * Decides when to claim. One claim is under way at most; the next one is planned by what the last reply said, and earlier
 * when the engine's watch says so.
 *
 * - As long as there is room and more is due, it claims again at once.
 * - Without room it waits for room, and claims nothing every 5 s to say that it is alive.
 * - A claim that failed is repeated with its token until it is answered, because it may have taken leases.
 */
export class ClaimLoop {
  readonly #options: ClaimLoopOptions;
  readonly #clock: Clock;
  readonly #backOff: BackOff;
  #claims = 0;
  /** When to claim again; a time that has passed means as soon as there is room. */
  #nextAt = Number.NEGATIVE_INFINITY;
  /** The earliest wake since the claim under way was sent: it may be younger than the reply. */
  #heardAt = Number.POSITIVE_INFINITY;
  /** By what has elapsed: how long it is silent must not depend on a clock that can be set. */
  #answeredAt = Number.NEGATIVE_INFINITY;
  #cancelTimer: CancelTimer | undefined;
  #isPlannedSoon = false;
  #isWaitingForRoom = false;
  #claimsSinceTimer = 0;
  #underWay: Promise<void> | undefined;
  /** An answer that is taken when the next claim has left. */
  #taking: Promise<unknown> | undefined;
  #arriving = 0;
  /** The claim under way may have taken leases that nobody knows of. */
  #isUncertain = false;
  #state: "idle" | "started" | "stopped" | "abandoned" = "idle";

  constructor(options: ClaimLoopOptions) {
    this.#options = options;
    this.#clock = options.queue.clock;
    this.#backOff = new BackOff(this.#clock, options.random);
  }

  /** How many messages were answered and are not yet taken. */
  get arriving(): number {
    return this.#arriving;
  }

  /** Begins to claim, at once. */
  start(): void {
    if (this.#state !== "idle") return;
    this.#state = "started";
    this.#plan();
  }

  /**
   * Sends no new claim. Resolves when the one under way was answered, or cannot have taken anything; one whose reply was lost
   * is repeated until then.
   */
  async stop(): Promise<void> {
    if (this.#state !== "abandoned") this.#state = "stopped";
    this.#cancelPlan();
    if (!this.#isUncertain) this.#backOff.hurry();
    await this.#underWay;
    await this.#taking;
  }

  /** Gives up repeating the claim under way; what it may have taken is due again when the leases end. */
  abandon(): void {
    this.#state = "abandoned";
    this.#cancelPlan();
    this.#backOff.hurry();
  }

  /** There is more room than before. */
  roomMade(): void {
    if (this.#isWaitingForRoom && this.#options.room() > 0) this.#plan();
  }

  /** The engine says: claim at `at` unless you claim earlier anyway. */
  wake(at: number): void {
    if (this.#underWay !== undefined) {
      this.#heardAt = Math.min(this.#heardAt, at);
    } else if (at < this.#nextAt) {
      this.#nextAt = at;
      this.#plan();
    }
  }

  /** The engine says: you need not claim before `at`. A claim under way knows better: its reply says when. */
  postpone(at: number): void {
    if (this.#underWay !== undefined) return;
    this.#nextAt = at;
    this.#plan();
  }

  /** The store can be reached again: claims at once, room or not, because wakes may have been lost and health waits for it. */
  recovered(): void {
    if (this.#state !== "started") return;
    if (this.#underWay === undefined) {
      this.#cancelPlan();
      this.#underWay = this.#claim();
    } else {
      this.#heardAt = Number.NEGATIVE_INFINITY;
      this.#backOff.hurry();
    }
  }

  #plan(): void {
    if (this.#state !== "started" || this.#underWay !== undefined) return;
    this.#cancelPlan();
    const hasRoom = this.#options.room() > 0;
    const isDue = this.#nextAt <= this.#clock.now();
    this.#isWaitingForRoom = isDue && !hasRoom;
    if (isDue && hasRoom) return this.#soon();
    const silentFor = this.#clock.elapsed() - this.#answeredAt;
    const cancelSilence = this.#clock.runAfter((hasRoom ? longestSilence : heartbeat) - silentFor, () =>
      this.#timeIsOver(),
    );
    const cancelNext =
      !isDue && this.#nextAt < Infinity ? this.#clock.runAt(this.#nextAt, () => this.#timeHasCome()) : undefined;
    this.#cancelTimer = () => {
      cancelSilence();
      cancelNext?.();
    };
  }

  /** In a microtask, so that handlers that end in one go make room for one claim. */
  #soon(): void {
    // An engine in this process answers in microtasks: without a turn of the event loop now and then, messages that are
    // always due would keep timers, sockets and signals from ever being heard.
    if (this.#claimsSinceTimer >= claimsBeforeTurn) {
      this.#cancelTimer = this.#clock.runAfter(0, () => this.#timeHasCome());
      return;
    }
    if (this.#isPlannedSoon) return;
    this.#isPlannedSoon = true;
    void turn.then(() => {
      if (!this.#isPlannedSoon) return;
      this.#isPlannedSoon = false;
      if (this.#state !== "started" || this.#underWay !== undefined) return;
      // Another partition of the same consumer may have been faster.
      if (this.#options.room() <= 0) return this.#plan();
      this.#underWay = this.#claim();
    });
  }

  /** Something is due. Without room it waits for room, like what is due at once. */
  #timeHasCome(): void {
    if (this.#options.room() > 0) this.#timeIsOver();
    else this.#plan();
  }

  #timeIsOver(): void {
    this.#cancelPlan();
    this.#claimsSinceTimer = 0;
    if (this.#state === "started" && this.#underWay === undefined) this.#underWay = this.#claim();
  }

  #cancelPlan(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#isPlannedSoon = false;
  }

  /** One claim until it is answered, then the next plan. Never rejects. */
  async #claim(): Promise<void> {
    this.#isWaitingForRoom = false;
    this.#heardAt = Number.POSITIVE_INFINITY;
    this.#claimsSinceTimer += 1;
    this.#claims += 1;
    const { consumer, lease, attempts, returns, newToken } = this.#options;
    const token = newToken?.() ?? `${consumer}.${this.#claims.toString(36)}`;
    const limit = Math.max(0, this.#options.room());
    this.#options.onClaim?.(limit);
    const request = { limit, lease, consumer, token, attempts, ...(returns === undefined ? {} : { returns }) };
    const result = await this.#untilAnswered(request);
    this.#isUncertain = false;
    if (result === undefined) {
      this.#underWay = undefined;
      return;
    }
    this.#answeredAt = this.#clock.elapsed();
    this.#options.onArrival?.(result);
    await this.#taking;
    if (this.#goesAhead(result)) {
      this.#options.onClaimOver?.();
      this.#underWay = this.#claim();
      this.#taking = this.#takeWhenSent(result, token);
      return;
    }
    const returned = this.#options.onAnswer(result, token);
    this.#options.onClaimOver?.();
    if (returned !== undefined) await returned;
    // From here on in one go: what is heard while a claim is under way is noted, and counts now.
    const isDue = this.#isMoreDue(result) || returned !== undefined;
    this.#nextAt = isDue ? Number.NEGATIVE_INFINITY : Math.min(result.nextAt, this.#heardAt);
    this.#underWay = undefined;
    this.#plan();
  }

  /** By the time of the reply, not of this machine, whose estimate may lie a hair before it. */
  #isMoreDue(result: ClaimResult): boolean {
    return Math.min(result.nextAt, this.#heardAt) <= result.now;
  }

  /**
   * Whether there is room for more than this brought, which is arriving then. Not for half of the room where a claim would take
   * all of it: with 100 handlers that was 62 to 81 thousand messages/s instead of 85 to 95, since each claim costs Redis 75 µs
   * whatever it takes.
   */
  #goesAhead(result: ClaimResult): boolean {
    const { ahead = false, queue, room } = this.#options;
    const count = result.messages.length;
    if (!ahead || queue.sent === undefined || this.#state !== "started" || count === 0) return false;
    if (!this.#isMoreDue(result)) return false;
    this.#arriving = count;
    if (room() > 0) return true;
    this.#arriving = 0;
    return false;
  }

  async #takeWhenSent(result: ClaimResult, token: string): Promise<void> {
    await this.#options.queue.sent?.();
    this.#arriving = 0;
    const returned = this.#options.onAnswer(result, token);
    if (returned === undefined) return;
    await returned;
    // What was handed back is due.
    this.wake(Number.NEGATIVE_INFINITY);
  }

  /** The answer; `undefined` when it is given up. The token stays the same, so leases that were given are given again. */
  async #untilAnswered(request: ClaimRequest): Promise<ClaimResult | undefined> {
    for (;;) {
      try {
        const result = await this.#options.queue.claim(request);
        this.#backOff.reset();
        return result;
      } catch (failure) {
        const code = failure instanceof PunctualError ? failure.code : undefined;
        if (code === "outcome-unknown") this.#isUncertain = true;
        this.#options.onFailure(failure);
        if (code === "closed" || this.#isGivenUp()) return undefined;
        await this.#backOff.wait();
        if (this.#isGivenUp()) return undefined;
      }
    }
  }

  #isGivenUp(): boolean {
    return this.#state === "abandoned" || (this.#state === "stopped" && !this.#isUncertain);
  }
}
