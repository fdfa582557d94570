import type {
  Burial,
  CallOptions,
  Claimed,
  ClaimRequest,
  ClaimResult,
  Counts,
  NewMessage,
  OpenOptions,
  Receipt,
  Release,
  Retry,
  Settlement,
} from "../engine.js";
import { PunctualError } from "../errors.js";
import { takeTurn, type TurnKeys } from "../waking/turn.js";
import { type Held, Holdings } from "./holdings.js";
import { encodeMember, type Member, redelivered } from "./member.js";
import { type Refusals, type SchemeContext, SchemeQueue, unsupported } from "./scheme-queue.js";
import { countWaiting } from "./scripts/counts.js";
import { drop } from "./scripts/drop.js";
import { purgeWaiting } from "./scripts/purge.js";
import { asResults, type Placement, schedule } from "./scripts/schedule.js";

/** A message that was taken out of Redis, and when it was due. */
export interface Taken {
  readonly member: Member;
  readonly dueAt: number;
}

const refusals: Refusals = {
  cancel: "it finds a message by all of its bytes, and an id alone does not give them",
  reschedule: "it finds a message by all of its bytes, and an id alone does not give them",
  get: "it finds a message by all of its bytes, and an id alone does not give them",
  list: "members of one due time have no order in which a page could go on",
  revive: "it keeps no dead letters",
  remove: "it keeps no dead letters",
  purge: "it keeps no dead letters",
  audit: "it keeps each message in one place, so there is nothing to hold against it",
  repair: "it keeps each message in one place, so there is nothing to hold against it",
  pause: "its consumers take straight from the zset, and look at nothing else first",
  resume: "its consumers take straight from the zset, and look at nothing else first",
};

/**
 * A queue whose messages are whole members of a zset, and are taken out of Redis to be delivered: at most once. A crash loses
 * what the process holds. A message that fails, or is handed back by a consumer that closes, is put into the zset again.
 */
export abstract class MemberQueue extends SchemeQueue {
  protected readonly keys: TurnKeys;
  readonly #engine: string;
  readonly #options: OpenOptions;
  readonly #held = new Holdings();
  /** What was taken and could not be given out with the claim that took it. */
  #over: Taken[] = [];

  constructor(context: SchemeContext, keys: TurnKeys, options: OpenOptions) {
    super(context, keys, refusals);
    this.keys = keys;
    this.#engine = context.engine;
    this.#options = options;
  }

  /**
   * Takes up to `limit` messages out of Redis that are due at `now`, for a claim. What it gives must be delivered: nobody else
   * has it.
   */
  protected abstract take(limit: number, now: number, request: ClaimRequest): Promise<Taken[]>;

  /** Takes a turn in looking out for what comes due, after a claim that left its consumer room or not. */
  protected async turn({ consumer, returns = true }: ClaimRequest, full: boolean) {
    return await takeTurn(this.work, this.keys, { consumer: this.watches.nameOf(consumer), returns, full });
  }

  async schedule(messages: readonly NewMessage[], options?: CallOptions) {
    if (this.#options.rememberFor !== undefined && this.#options.rememberFor > 0) {
      throw unsupported(this.#engine, "schedule", "it forgets an id with its message", "with rememberFor");
    }
    if (messages.some(({ onDuplicate }) => onDuplicate === "replace")) {
      throw unsupported(
        this.#engine,
        "schedule",
        "it finds a message by all of its bytes, not by its id",
        "as a replacement",
      );
    }
    const placements = messages.map((message) => ({ member: encodeMember(message), due: message.due }));
    return asResults(await schedule(this.calls, this.keys, placements, options));
  }

  async claim(request: ClaimRequest): Promise<ClaimResult> {
    const { limit, lease, consumer, token, attempts } = request;
    const now = this.clock.now();
    this.#held.sweep(now);
    const taken = this.#over;
    this.#over = [];
    if (taken.length < limit) taken.push(...(await this.take(limit - taken.length, now, request)));
    const leaseUntil = Math.floor(now) + Math.ceil(lease);
    const messages: Claimed[] = [];
    const given: { id: string; reason: string }[] = [];
    for (const one of taken) {
      const { id, delivered, attempts: most = attempts } = one.member;
      if (messages.length === limit || this.#held.has(token, id)) this.#over.push(one);
      else if ((one.member.expiresAt(one.dueAt) ?? Infinity) < now) given.push({ id, reason: "expired" });
      else if (delivered >= most) given.push({ id, reason: "attempts" });
      else messages.push(this.#held.hold(token, { ...one, attempts: most, leaseUntil }));
    }
    try {
      if (given.length > 0) await this.#drop(given.map(({ id }) => id));
      const turn = await this.turn(request, messages.length === limit);
      this.watches.claimed(consumer, turn.now);
      const nextAt = this.#over.length > 0 ? turn.now : turn.nextAt;
      return { messages, leaseUntil, now: turn.now, nextAt, buried: given, missing: [] };
    } catch (error) {
      // What was taken is nowhere else, so it is delivered whatever became of the rest.
      if (messages.length === 0 || !(error instanceof PunctualError)) throw error;
      return { messages, leaseUntil, now, nextAt: now, buried: given, missing: [] };
    }
  }

  async acknowledge(receipts: readonly Receipt[]): Promise<Settlement[]> {
    const now = this.clock.now();
    return receipts.map((receipt) => (this.#held.end(receipt, now) === undefined ? "lease-lost" : "settled"));
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
      due: delay === undefined ? { at: dueAt } : { delay },
    }));
  }

  async bury(burials: readonly Burial[]): Promise<Settlement[]> {
    return await this.#putBack(burials, () => "drop");
  }

  async extend(receipts: readonly Receipt[], lease: number) {
    const now = this.clock.now();
    return receipts.map((receipt) => this.#held.extend(receipt, now, lease));
  }

  /** What consumers hold is known to their processes alone: `leased` counts those of this one. */
  override async counts(): Promise<Counts> {
    return { ...(await countWaiting(this.calls, this.keys)), leased: this.#held.size, dead: 0, paused: false };
  }

  override purge(what: "waiting" | "dead"): Promise<number> {
    return what === "waiting" ? purgeWaiting(this.calls, this.keys) : this.refuse("purge", "dead letters");
  }

  /** Ends leases, and puts back or gives up what was held under them. */
  async #putBack<Item extends Receipt>(
    items: readonly Item[],
    placeOf: (item: Item, held: Held) => Placement | "drop",
  ): Promise<Settlement[]> {
    const now = this.clock.now();
    const settlements: Settlement[] = items.map(() => "lease-lost");
    const dropped: string[] = [];
    const placements: Placement[] = [];
    const places: number[] = [];
    for (const [index, item] of items.entries()) {
      const held = this.#held.end(item, now);
      if (held === undefined) continue;
      const place = placeOf(item, held);
      settlements[index] = "settled";
      if (place === "drop") dropped.push(item.id);
      else places[placements.push(place) - 1] = index;
    }
    if (placements.length > 0) {
      const placed = await schedule(this.work, this.keys, placements);
      for (const [place, { outcome }] of placed.entries()) {
        if (outcome === "outcome-unknown") settlements[places[place] ?? 0] = outcome;
      }
    }
    if (dropped.length > 0) await this.#drop(dropped);
    return settlements;
  }

  /** Without dead letters, what would be buried is given up; a consumer tells it. */
  async #drop(ids: readonly string[]): Promise<void> {
    const total = await drop(this.work, this.keys, ids.length);
    this.#options.onDropped?.({ ids, total });
  }
}
