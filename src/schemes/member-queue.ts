import type { Clock } from "../clock.js";
import type {
  Burial,
  CallOptions,
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
import { type ErrorCode, PunctualError } from "../errors.js";
import { sameFailure } from "../partial-results.js";
import { takeTurn } from "../waking/turn.js";
import { type Held, Holdings, type Lease, type Taken } from "./holdings.js";
import { encodeMember, redelivered } from "./member.js";
import type { MemberKeys } from "./member-keys.js";
import { type Refusals, type SchemeContext, SchemeQueue, unsupported } from "./scheme-queue.js";
import { countWaiting } from "./scripts/counts.js";
import { drop } from "./scripts/drop.js";
import { pause } from "./scripts/pause.js";
import { purgeWaiting } from "./scripts/purge.js";
import { resume } from "./scripts/resume.js";
import { asResults, type Placement, schedule } from "./scripts/schedule.js";
import { SharedByName } from "./shared-by-name.js";

export type { Taken };

const byBytes = "it finds a message by all of its bytes, which nobody knows who has only its id";

const refusals: Refusals = {
  cancel: byBytes,
  reschedule: byBytes,
  get: byBytes,
  list: "a place among messages of one due time is named by a whole message, too much for a cursor",
  revive: "it keeps no dead letters",
  remove: "it keeps no dead letters",
  purge: "it keeps no dead letters",
  audit: "it keeps each message in one place, so there is nothing to hold against it",
  repair: "it keeps each message in one place, so there is nothing to hold against it",
};

/** Failures after which a message is where it was. */
const nothingChanged: ReadonlySet<ErrorCode> = new Set(["not-sent", "refused", "storage-full", "misconfigured"]);

const holdings = new SharedByName<Holdings>();

/**
 * A queue whose messages are whole members of a zset, and are taken out of Redis to be delivered: at most once. A crash loses
 * what the process holds. A message that fails, or is handed back by a consumer that closes, is put into the zset again.
 */
export abstract class MemberQueue extends SchemeQueue {
  protected readonly keys: MemberKeys;
  readonly #engine: string;
  readonly #options: OpenOptions;
  readonly #held: Holdings;

  constructor(context: SchemeContext, keys: MemberKeys, options: OpenOptions) {
    super(context, keys, refusals);
    this.keys = keys;
    this.#held = holdings.of(context, keys.schedule, () => new Holdings());
    this.#engine = context.engine;
    this.#options = options;
  }

  /**
   * Takes up to `limit` messages out of Redis that are due at `now`, for a claim. What it gives must be delivered: nobody else
   * has it. Until there is a connection, `now` is the time of this machine: who asks by it asks `clock` on the connection.
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
    const { limit, consumer, token } = request;
    const before = this.clock.now();
    this.#held.sweep(before);
    const again = this.#held.again(token, before);
    if (again !== undefined) {
      const { now, nextAt } = await this.#turn(request, false, again.messages.length > 0);
      return { ...again, now, nextAt, buried: [], missing: [] };
    }
    const { ours, over, buried } = sorted(
      limit > 0 ? await this.take(limit, before, request) : [],
      request,
      this.clock,
    );
    if (over.length > 0) await this.#returnOver(over);
    if (buried.length > 0) await this.#drop(buried.map(({ id }) => id));
    const { now, nextAt } = await this.#turn(request, ours.length === limit, ours.length + buried.length > 0);
    const leaseUntil = Math.floor(now) + Math.ceil(request.lease);
    const messages = this.#held.hold({ consumer, token, leaseUntil }, ours);
    return { messages, leaseUntil, now, nextAt, buried, missing: [] };
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
      due: delay === undefined ? { keep: dueAt } : { delay },
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
    return { ...(await countWaiting(this.calls, this.keys)), leased: this.#held.size, dead: 0 };
  }

  override purge(what: "waiting" | "dead"): Promise<number> {
    return what === "waiting" ? purgeWaiting(this.calls, this.keys) : this.refuse("purge", "dead letters");
  }

  /** Renames the zset: whoever is about to remove what it has read finds nothing there. */
  override async pause(): Promise<void> {
    await pause(this.calls, this.keys);
  }

  override async resume(): Promise<void> {
    await resume(this.calls, this.keys);
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
      const held = this.#held.end(item, now);
      if (held === undefined) continue;
      const placement = placeOf(item, held);
      settlements[index] = "settled";
      if (placement === "drop") dropped.push(item.id);
      else back.push({ index, held, placement });
    }
    if (dropped.length > 0) await this.#drop(dropped);
    if (back.length === 0) return settlements.map((settlement) => settlement ?? "settled");
    try {
      const placed = await schedule(
        this.work,
        this.keys,
        back.map(({ placement }) => placement),
        { back: true },
      );
      for (const [place, { outcome }] of placed.entries()) {
        const { index } = back[place] ?? {};
        if (outcome === "outcome-unknown" && index !== undefined) settlements[index] = outcome;
      }
      return settlements.map((settlement) => settlement ?? "settled");
    } catch (error) {
      if (!(error instanceof PunctualError)) throw error;
      const known = error.details["results"];
      for (const [place, { index, held }] of back.entries()) {
        if (Array.isArray(known) && known[place] !== undefined) continue;
        settlements[index] = undefined;
        // It is not in Redis, so it stays with its holder, who can try again. Where that is not known it is given up.
        const item = items[index];
        if (item !== undefined && nothingChanged.has(error.code)) this.#held.restore(item, held);
      }
      throw sameFailure(error, { ...error.details, results: settlements });
    }
  }

  /** Puts back what a claim cannot give out. It has no holder yet: when it does not come back it is lost, and that is told. */
  async #returnOver(over: readonly Taken[]): Promise<void> {
    try {
      const placements = over.map(({ member, dueAt }) => ({ member: member.bytes, due: { keep: dueAt } }));
      await schedule(this.work, this.keys, placements, { back: true });
    } catch (error) {
      if (!(error instanceof PunctualError)) throw error;
      await this.#drop(over.map(({ member }) => member.id));
    }
  }

  /** Without dead letters, what would be buried is given up; a consumer tells it. What is not counted is told all the same. */
  async #drop(ids: readonly string[]): Promise<void> {
    let total = ids.length;
    try {
      total = await drop(this.work, this.keys, ids.length);
    } catch (error) {
      if (!(error instanceof PunctualError)) throw error;
    }
    this.#options.onDropped?.({ ids, total });
  }
}

interface Sorted {
  /** What is delivered. */
  readonly ours: Held[];
  /** What another message of this claim leaves no room for. */
  readonly over: Taken[];
  readonly buried: { readonly id: string; readonly reason: string }[];
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
