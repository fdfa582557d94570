import type { Clock } from "../clock.js";
import type { Burial, ClaimRequest, ClaimResult, OpenOptions, Receipt, Release, Retry, Settlement } from "../engine.js";
import { type ErrorCode, PunctualError } from "../errors.js";
import { resultsOf, sameFailure } from "../partial-results.js";
import type { WakingKeys } from "../waking/keys.js";
import { type GivenUp, type Held, Holdings, type Lease, type Taken } from "./holdings.js";
import { redelivered } from "./member.js";
import { type Refusals, type SchemeContext, SchemeQueue } from "./scheme-queue.js";
import { drop } from "./scripts/drop.js";
import type { Placement } from "./scripts/schedule.js";
import { SharedByName } from "./shared-by-name.js";
import type { Haul } from "./take-pieces.js";

export type { Taken };

/** A message that was taken out, and goes back to where messages wait. */
export interface PutBack extends Placement {
  readonly id: string;
}

/**
 * What became of one that was to go back. `given-up`: it could not, since meanwhile there is another one with its id.
 */
export type Placing = "back" | "given-up" | "outcome-unknown";

/** Failures after which a message is where it was. */
const nothingChanged: ReadonlySet<ErrorCode> = new Set(["not-sent", "refused", "storage-full", "misconfigured"]);

const withoutDeadLetters: Refusals = {
  revive: "it keeps no dead letters",
  remove: "it keeps no dead letters",
  purge: "it keeps no dead letters",
};

const holdings = new SharedByName<Holdings>();

/**
 * A queue whose messages are taken out of Redis to be delivered: at most once. A crash loses what the process holds. A message
 * that fails, or is handed back by a consumer that closes, is put back to where messages wait.
 */
export abstract class AtMostOnceQueue extends SchemeQueue {
  /** What this process holds. Nobody else knows of it. */
  protected readonly held: Holdings;
  readonly #keys: WakingKeys;
  readonly #options: OpenOptions;

  protected constructor(context: SchemeContext, keys: WakingKeys, refusals: Refusals, options: OpenOptions) {
    super(context, keys, { ...withoutDeadLetters, ...refusals });
    this.held = holdings.of(context, keys.state, () => new Holdings());
    this.#keys = keys;
    this.#options = options;
  }

  /**
   * Takes up to `limit` messages out of Redis that are due at `now`, for a claim. What it gives must be delivered: nobody else
   * has it, although something failed on the way. Until there is a connection, `now` is the time of this machine: who asks by it
   * asks `clock` on the connection.
   */
  protected abstract take(limit: number, now: number, request: ClaimRequest): Promise<Haul>;

  /** Puts messages back. Doing it twice is doing it once. */
  protected abstract place(putBacks: readonly PutBack[]): Promise<Placing[]>;

  /** Says when the consumer is to claim again, after a claim that left it room or not. */
  protected abstract turn(
    request: ClaimRequest,
    full: boolean,
  ): Promise<{ readonly now: number; readonly nextAt: number }>;

  async claim(request: ClaimRequest): Promise<ClaimResult> {
    const { limit, consumer, token } = request;
    const before = this.clock.now();
    this.held.sweep(before);
    await this.#tellEnded();
    const again = this.held.again(token, before);
    if (again !== undefined) {
      const { now, nextAt } = await this.#turn(request, false, again.messages.length + again.buried.length > 0);
      return { ...again, now, nextAt, missing: [] };
    }
    const { taken, failure }: Haul = limit > 0 ? await this.take(limit, before, request) : { taken: [] };
    const { ours, over, buried } = sorted(taken, request, this.clock);
    if (over.length > 0) await this.giveBack(over);
    if (buried.length > 0) await this.giveUp(buried.map(({ id }) => id));
    const { now, nextAt } = await this.#turn(request, ours.length === limit, ours.length + buried.length > 0);
    const leaseUntil = Math.floor(now) + Math.ceil(request.lease);
    const fails = mayHaveLost(failure);
    const messages = this.held.hold({ consumer, token, leaseUntil }, ours, fails ? buried : []);
    // Others may be lost, and whoever claims is told. What it has, and what was given up, is under its token when it repeats the
    // claim.
    if (fails) throw failure;
    return { messages, leaseUntil, now, nextAt, buried, missing: [] };
  }

  async acknowledge(receipts: readonly Receipt[]): Promise<Settlement[]> {
    const now = this.clock.now();
    const settlements = receipts.map((receipt): Settlement =>
      this.held.end(receipt, now) === undefined ? "lease-lost" : "settled",
    );
    await this.#tellEnded();
    return settlements;
  }

  async retry(retries: readonly Retry[]): Promise<Settlement[]> {
    return await this.#putBack(retries, ({ delay }, { member, dueAt, attempts }) => {
      const delivered = member.delivered + 1;
      if (delivered >= attempts) return "drop";
      return { member: redelivered(member, dueAt, delivered), due: { delay } };
    });
  }

  async release(releases: readonly Release[]): Promise<Settlement[]> {
    return await this.#putBack(releases, ({ delay }, { member, dueAt }) => ({
      member: delay === undefined ? member.bytes : redelivered(member, dueAt, member.delivered),
      due: delay === undefined ? { keep: dueAt } : { delay },
    }));
  }

  async bury(burials: readonly Burial[]): Promise<Settlement[]> {
    return await this.#putBack(burials, () => "drop");
  }

  async extend(receipts: readonly Receipt[], lease: number) {
    const now = this.clock.now();
    return receipts.map((receipt) => this.held.extend(receipt, now, lease));
  }

  /** Takes a turn. `tookSome`: what was taken is nowhere else, so it is delivered although nothing more is known. */
  async #turn(request: ClaimRequest, full: boolean, tookSome: boolean): Promise<{ now: number; nextAt: number }> {
    try {
      const turn = await this.turn(request, full);
      this.watches.claimed(request.consumer, turn.now);
      return turn;
    } catch (error) {
      if (!tookSome || !(error instanceof PunctualError)) throw error;
      const now = this.clock.now();
      return { now, nextAt: now };
    }
  }

  /** Ends leases, and puts back or gives up what was held under them. */
  async #putBack<Item extends Receipt>(
    items: readonly Item[],
    placeOf: (item: Item, held: Held) => Placement | "drop",
  ): Promise<Settlement[]> {
    const now = this.clock.now();
    const settlements: (Settlement | undefined)[] = items.map(() => "lease-lost");
    const dropped: string[] = [];
    const back: { readonly index: number; readonly held: Lease; readonly placement: Placement }[] = [];
    for (const [index, item] of items.entries()) {
      // Ended first: another settlement of the same lease must not put it back as well.
      const held = this.held.end(item, now);
      if (held === undefined) continue;
      const placement = placeOf(item, held);
      settlements[index] = "settled";
      if (placement === "drop") dropped.push(item.id);
      else back.push({ index, held, placement });
    }
    if (dropped.length > 0) await this.giveUp(dropped);
    await this.#tellEnded();
    if (back.length === 0) return settlements.map((settlement) => settlement ?? "settled");
    try {
      const placings = await this.place(back.map(({ held, placement }) => ({ id: held.member.id, ...placement })));
      for (const [place, { index }] of back.entries()) {
        if (placings[place] === "outcome-unknown") settlements[index] = "outcome-unknown";
      }
      const givenUp = back.filter((_, place) => placings[place] === "given-up");
      if (givenUp.length > 0) await this.giveUp(givenUp.map(({ held }) => held.member.id));
      return settlements.map((settlement) => settlement ?? "settled");
    } catch (error) {
      if (!(error instanceof PunctualError)) throw error;
      const known = resultsOf(error);
      for (const [place, { index, held }] of back.entries()) {
        if (known[place] !== undefined) continue;
        settlements[index] = undefined;
        // It is not in Redis, so it stays with its holder, who can try again. Where that is not known it is given up.
        const item = items[index];
        if (item !== undefined && nothingChanged.has(error.code)) this.held.restore(item, held);
      }
      throw sameFailure(error, { ...error.details, results: settlements });
    }
  }

  /** How many messages this process holds. */
  protected async countHeld(): Promise<number> {
    const count = this.held.countAt(this.clock.now());
    await this.#tellEnded();
    return count;
  }

  /**
   * Gives up what nobody settled in its lease: no handler saw it when a claim was answered later than that, and nobody else has
   * it.
   */
  async #tellEnded(): Promise<void> {
    const ended = this.held.takeEnded();
    if (ended.length > 0) await this.giveUp(ended);
  }

  /** Puts back what is not given out. It has no holder yet: when it does not come back it is lost, and that is told. */
  protected async giveBack(taken: readonly Taken[]): Promise<void> {
    try {
      await this.place(
        taken.map(({ member, dueAt }) => ({ id: member.id, member: member.bytes, due: { keep: dueAt } })),
      );
    } catch (error) {
      if (!(error instanceof PunctualError)) throw error;
      await this.giveUp(taken.map(({ member }) => member.id));
    }
  }

  /** Without dead letters, what would be buried is given up; a consumer tells it. What is not counted is told all the same. */
  protected async giveUp(ids: readonly string[]): Promise<void> {
    let total = ids.length;
    try {
      total = await drop(this.work, this.#keys, ids.length);
    } catch (error) {
      if (!(error instanceof PunctualError)) throw error;
    }
    this.#options.onDropped?.({ ids, total });
  }

  /** Counts and tells what was lost with a reply, and fails. `guarantee`: a sentence with what would deliver it again. */
  protected async tellLost(ids: readonly string[], guarantee: string): Promise<never> {
    await this.giveUp(ids);
    const what = `A reply was lost, and with it the messages that a claim had taken (${ids.length}).`;
    throw new PunctualError("outcome-unknown", `${what} ${guarantee}`, { details: { lost: ids } });
  }
}

/** Whether messages may be nowhere after a failure. Any other leaves them where they were, and comes again if it lasts. */
function mayHaveLost(failure: unknown): boolean {
  return failure !== undefined && (!(failure instanceof PunctualError) || failure.code === "outcome-unknown");
}

interface Sorted {
  /** What is delivered. */
  readonly ours: Held[];
  /** What another message of this claim leaves no room for. */
  readonly over: Taken[];
  readonly buried: GivenUp[];
}

/** What becomes of what a claim took. */
function sorted(taken: readonly Taken[], { limit, attempts }: ClaimRequest, clock: Clock): Sorted {
  const now = clock.now();
  const [ours, over, buried]: [Held[], Taken[], Sorted["buried"]] = [[], [], []];
  const ids = new Set<string>();
  for (const one of taken) {
    const { id, delivered, attempts: most = attempts } = one.member;
    if (ours.length === limit || ids.has(id)) over.push(one);
    else if ((one.member.expiresAt(one.dueAt) ?? Infinity) < now) buried.push({ id, reason: "expired" });
    else if (delivered >= most) buried.push({ id, reason: "attempts" });
    else {
      ids.add(id);
      ours.push({ ...one, attempts: most });
    }
  }
  return { ours, over, buried };
}
