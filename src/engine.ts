/**
 * The contract between the queue and the place where messages are kept. Whoever reads this file knows the product.
 *
 * An engine keeps its promises as long as its store keeps the writes that it confirmed. Every promise is a set of
 * conformance cases with the same words (`punctual/testing`); an engine that breaks one says so there, with a reason.
 *
 *  1. **Never early.** No handler starts before the due time by the clock of the engine.
 *  2. **At least once.** A message whose `schedule()` resolved is delivered until it is acknowledged, buried, cancelled or
 *     purged.
 *  3. **One lease at a time.** In the order in which the store runs commands, leases on one message never overlap, and a
 *     lease that has ended (settled, or reclaimed at its deadline or later) cannot acknowledge, retry, release, extend or
 *     bury anything: it gets `lease-lost` and changes nothing.
 *  4. **Idempotent schedule.** While a message with that id exists, and for `rememberFor` after it is gone if that was asked
 *     for, scheduling it again leaves exactly one; so a schedule whose outcome is unknown is repeated safely.
 *  5. **Bounded redelivery.** What a killed process held is due again when its lease ends, at most 1 s later; what a closing
 *     process held is due again at once, without using an attempt.
 *  6. **Nothing is dropped silently.** After its last attempt, or when it expired, a message lies with the dead letters with
 *     payload, attempts, error and time, and can be revived.
 *  7. **Order.** Within a partition messages are claimed in due order; equal due times in the order in which they were
 *     scheduled, by any number of producers.
 *  8. **Cancel tells the truth.** `cancelled` means removed, never delivered afterwards; `leased` means that it is being
 *     worked on; `absent` that there is no such message; when it cannot be known (a lost reply, then absent) the call fails
 *     with `outcome-unknown`.
 *  9. **Bounded server work.** No call makes the store work on more than 1,000 messages or about 1 MiB of payload (one
 *     message at least), however many are due, dead or asked for; with payloads up to 1 KiB none takes over 5 ms.
 * 10. **It comes back.** After any fault has passed, every consumer is working again within 5 s, without a restart, and its
 *     health says so only when it is true.
 * 11. **Opaque payload.** The bytes that come out are the bytes that went in; the store never decodes them.
 * 12. **One clock.** Only the clock of the engine decides what is due and which lease has ended; clients may be off by
 *     hours. (If that clock itself steps, due times and leases step with it.)
 * 13. **No orphans.** Every index entry has its message and every message its index entry; `audit()` proves it and `repair()`
 *     restores it.
 * 14. **Pause is a pause.** No claim succeeds after `pause()` resolved; clocks go on; all is delivered once after resume.
 * 15. **Cheap when idle.** While nothing comes due and no lease ends, a consumer costs at most one command in 5 s a
 *     partition, whatever is scheduled; and consumers that wait do not multiply the commands of those that work.
 *
 * All times are Unix ms by the clock of the engine, whole numbers unless said otherwise; all durations are ms. Ids are
 * strings of 1 to 256 bytes of UTF-8. Arguments were validated by the caller. Every operation takes any number of items and
 * answers in their order; an engine cuts them into calls of bounded work. Operations reject with a `PunctualError`; one
 * that failed half-way carries what is known in `details.results`, an array with `undefined` where nothing is.
 *
 * States: `scheduled` (not yet due) → `due` → `leased` → gone; back from `leased` by retry, release and reclaim; to `dead`
 * by bury, expiry or the last failed attempt. The four are disjoint everywhere.
 */
import type { Clock } from "./clock.js";
import type { PunctualError } from "./errors.js";

/** Where and how messages are kept. One engine serves many queues. */
export interface Engine extends AsyncDisposable {
  /** The name under which docs and errors know it, such as `redis` or `memory`. */
  readonly name: string;
  /** The operations on one queue. Opening costs nothing and reserves nothing; opening twice gives the same messages. */
  open(queue: string, options?: OpenOptions): EngineQueue;
  /** Gives connections back. Calls under way are ended with `closed`. Safe to call twice. */
  close(): Promise<void>;
}

/** The operations on one queue. */
export interface EngineQueue {
  /** The clock that decides what is due. */
  readonly clock: Clock;
  /** Whether the engine was closed: every call fails with `closed`, and every watch was told. */
  readonly closed: boolean;
  /** The independent parts of a queue that is split, each with consumers of its own; left out where it is one. */
  readonly partitions?: readonly EngineQueue[] | undefined;

  /**
   * Hands messages over. A call that ended is repeated by the engine as long as `timeout` lasts; because of promise 4 that
   * leaves one message. Fails with `refused`, `not-sent` or `storage-full` when nothing was stored, and with
   * `outcome-unknown`, `misconfigured` or `closed` when something may have been; with `not-confirmed` when all were, and the
   * engine was to wait for more.
   */
  schedule(messages: readonly NewMessage[], options?: CallOptions): Promise<ScheduleResult[]>;

  /**
   * Takes messages that are due, each under a lease that ends at `leaseUntil`, and says when this consumer should claim
   * again. Leases that have ended are reclaimed on the way: their messages are due again as of the lease's end, one attempt
   * used, or buried when none is left. A message that has expired is buried instead of delivered.
   *
   * A claim with a limit of 0 takes nothing; it reports that a busy consumer is alive.
   */
  claim(request: ClaimRequest): Promise<ClaimResult>;

  /** Resolves when the calls made so far have left this process, where they do; see `ClaimLoopOptions.ahead`. */
  sent?(): Promise<void>;

  /** Done: deletes the messages. */
  acknowledge(receipts: readonly Receipt[]): Promise<Settlement[]>;

  /** Failed: due again after a delay, one attempt used; buried with reason `attempts` when that was the last. */
  retry(retries: readonly Retry[]): Promise<Settlement[]>;

  /** Not worked on, or not now: due again after a delay, or without one in its old place; no attempt used. */
  release(releases: readonly Release[]): Promise<Settlement[]>;

  /** Moves messages to the dead letters. The delivery counts as an attempt. */
  bury(burials: readonly Burial[]): Promise<Settlement[]>;

  /**
   * Moves the deadline of leases that are still held and not over to now plus `lease`. One that is over is `lease-lost`, also
   * when nobody has reclaimed it yet: its holder may have given it up.
   */
  extend(receipts: readonly Receipt[], lease: number): Promise<Extension[]>;

  /**
   * Removes messages that nobody works on, dead letters too (promise 8). A lease that has ended counts as reclaimed, here
   * and in `reschedule`, `get`, and a schedule that replaces.
   */
  cancel(ids: readonly string[]): Promise<("cancelled" | "leased" | "absent" | "outcome-unknown")[]>;

  /** Sets another due time; the message keeps its place among equal due times as the one scheduled when it was. */
  reschedule(
    changes: readonly Reschedule[],
  ): Promise<("rescheduled" | "leased" | "dead" | "absent" | "outcome-unknown")[]>;

  /** Reads messages without touching them; `undefined` where there is none. */
  get(ids: readonly string[]): Promise<(StoredMessage | undefined)[]>;

  /**
   * How many messages are in each state, and whether the queue is paused. A lease that has ended counts as reclaimed. Beyond
   * 1,000 of those that nobody has reclaimed yet, or 256 KiB of their errors, an engine may count messages as due that are dead:
   * their last attempts are not looked for (promise 9).
   */
  counts(): Promise<Counts>;

  /**
   * Reads messages of one state in order, a page at a time: by due time and then in the order in which they were scheduled;
   * dead letters by the time of burial and then by id. A message that keeps its state and due time while somebody pages is
   * neither skipped nor seen twice.
   */
  list(query: ListQuery): Promise<ListPage>;

  /**
   * Brings dead letters back, with attempts counted anew and no expiry, as the youngest of their due time; answers how many.
   * `all`: those that were there when it began. Ids that are no dead letters are passed over.
   */
  revive(ids: readonly string[] | "all", due: DueTime): Promise<number>;

  /** Deletes dead letters; answers how many. Ids that are none are passed over. */
  remove(ids: readonly string[]): Promise<number>;

  /** Deletes what is there when it is called, and answers how much: what is scheduled or due, or the dead letters. */
  purge(what: "waiting" | "dead"): Promise<number>;

  /** Looks whether promise 13 holds, while work goes on: each problem that it tells was there in one moment. */
  audit(): Promise<AuditReport>;

  /**
   * Mends what `audit` finds, and tells what it found. No message is lost by it: one that is in no index is due at once; an
   * index entry without a message is removed. Nothing else is touched.
   */
  repair(): Promise<AuditReport>;

  /** No claim takes anything until `resume` (promise 14). Pausing twice is pausing once. */
  pause(): Promise<void>;

  /** Ends a pause; consumers that wait are woken. */
  resume(): Promise<void>;

  /**
   * Tells a consumer when to claim earlier than its last claim said, so that it need not poll. Ending the watch takes the
   * consumer off the engine's books and passes on what it was to look after. One watch a consumer; start it before the
   * first claim. One that fails to begin may have told of an outage, and tells nothing more: not of its end either.
   */
  watch(consumer: string, watcher: Watcher): Promise<AsyncDisposable>;
}

export interface OpenOptions {
  /**
   * How long the id of a message stays known after it was acknowledged, cancelled, removed or purged, ms: scheduling it in
   * that time answers `duplicate`. 0, the default, forgets at once. Kept in the store by the schedules that ask for it, so
   * consumers need not be told.
   */
  readonly rememberFor?: number | undefined;
  /**
   * Hears of dead letters that fell out of the bounds of the engine, when a call that made them fall out has its answer. Only
   * `total` tells of those whose answer was lost. Must not throw.
   */
  readonly onDropped?: ((dropped: Dropped) => void) | undefined;
}

/** Dead letters that fell out of their bounds in one call of this queue's engine. */
export interface Dropped {
  readonly ids: readonly string[];
  /** How many have fallen out of this queue so far, by anybody's calls. */
  readonly total: number;
}

/** How long a call may take. */
export interface CallOptions {
  /** Gives up when it aborts: `not-sent` when nothing was sent yet, else `outcome-unknown`. */
  readonly signal?: AbortSignal | undefined;
  /**
   * How long to wait for the store before the call fails, ms, all in all. Default: 10,000 for each part into which the engine
   * cuts the call.
   */
  readonly timeout?: number | undefined;
}

/** A time to be due: a delay from the moment at which the engine takes the call, or a point in time. Both are finite. */
export type DueTime = { readonly delay: number } | { readonly at: number };

/** A message as handed over. */
export interface NewMessage {
  readonly id: string;
  readonly payload: Uint8Array;
  /** When it is due. Fractions are rounded up. A negative delay and a time in the past mean now. */
  readonly due: DueTime;
  /** What happens when there is a message with this id that nobody works on. */
  readonly onDuplicate: "keep" | "replace";
  /** Deliveries at most, over the limit of the claim; a whole number from 1. */
  readonly attempts?: number | undefined;
  /** How long after the due time given here it may still be delivered, ms; then it is buried with reason `expired`. */
  readonly expiresIn?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/**
 * What became of a scheduled message. An id that exists: scheduled or due: keep → `duplicate`, replace → `replaced`;
 * leased: keep → `duplicate`, replace → `leased` (nothing changed); dead: keep → `duplicate`, replace → `replaced`.
 */
export interface ScheduleResult {
  readonly outcome: "scheduled" | "duplicate" | "replaced" | "leased";
  /** The due time that is stored now: of a duplicate or leased one, that of the message that was there. */
  readonly dueAt: number;
}

export interface ClaimRequest {
  /** Messages at most, from 0. The engine may give fewer than there are, and then says `nextAt` = now. */
  readonly limit: number;
  /** How long the leases last, ms, at least 1,000. */
  readonly lease: number;
  /** Who claims: the name of the watch. */
  readonly consumer: string;
  /**
   * Names the leases of this claim; never used before. A claim that is repeated with its token, because its reply was lost,
   * gets the same leases again.
   */
  readonly token: string;
  /** Deliveries at most of a message that has no limit of its own; fixed here for the lease. */
  readonly attempts: number;
  /**
   * Whether it will claim again when `nextAt` or its watch says so. Default true. One that does not is never waited for: it
   * need not have a watch.
   */
  readonly returns?: boolean | undefined;
}

export interface ClaimResult {
  readonly messages: readonly Claimed[];
  /** Until when the leases last. */
  readonly leaseUntil: number;
  /** The time of the engine when it ran the claim. */
  readonly now: number;
  /**
   * When this consumer should claim again: as soon as it has room when this is not later than `now`, else at that time, and
   * earlier when its watch says so.
   */
  readonly nextAt: number;
  /** Messages that this claim moved to the dead letters. */
  readonly buried: readonly { readonly id: string; readonly reason: string }[];
  /** Ids whose payload was gone from the store (evicted or deleted by hand); their remains were removed. */
  readonly missing: readonly string[];
}

/** A message under a lease. */
export interface Claimed {
  readonly id: string;
  readonly payload: Uint8Array;
  readonly dueAt: number;
  /** Which delivery this is, from 1. Released deliveries do not count. */
  readonly attempt: number;
  /** Deliveries at most, fixed for this lease. */
  readonly attempts: number;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** The right to settle one delivery. */
export interface Receipt {
  readonly id: string;
  /** The token of the claim. */
  readonly token: string;
  /** The last deadline that was confirmed: after a lost reply it decides between settled and unknown. */
  readonly leaseUntil: number;
}

export interface Retry extends Receipt {
  /** ms from now; not negative. */
  readonly delay: number;
  readonly error?: FailureRecord | undefined;
}

export interface Release extends Receipt {
  /** ms from now; when left out the message keeps its due time. */
  readonly delay?: number | undefined;
}

export interface Burial extends Receipt {
  readonly reason: string;
  readonly error?: FailureRecord | undefined;
}

/** The error of a handler, as kept with a message: at most 4 KiB in all, cut by the caller. */
export interface FailureRecord {
  readonly name: string;
  readonly message: string;
  readonly stack?: string | undefined;
}

/** `outcome-unknown`: the reply was lost, and the lease had ended before the call could be repeated. */
export type Settlement = "settled" | "lease-lost" | "outcome-unknown";

export type Extension =
  | { readonly outcome: "extended"; readonly leaseUntil: number }
  | { readonly outcome: "lease-lost" };

export interface Reschedule {
  readonly id: string;
  readonly due: DueTime;
}

export type MessageState = "scheduled" | "due" | "leased" | "dead";

/** A message as it lies in the store. */
export interface StoredMessage {
  readonly id: string;
  readonly state: MessageState;
  readonly payload: Uint8Array;
  /** Of a dead letter: when it was due last. */
  readonly dueAt: number;
  /** Deliveries so far that counted, the one under way included. */
  readonly attempt: number;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** When the lease ends; only of a leased one. */
  readonly leaseUntil?: number | undefined;
  readonly lastError?: (FailureRecord & { readonly at: number }) | undefined;
  /** Why and when it was buried; only of a dead one. */
  readonly buried?: { readonly reason: string; readonly at: number } | undefined;
}

export interface ListQuery {
  readonly state: MessageState;
  /** The earliest due time (of dead letters: time of burial) that is wanted, Unix ms, itself included. */
  readonly from?: number | undefined;
  /** The latest, itself included. */
  readonly to?: number | undefined;
  /** Messages at most, from 1. A page may have fewer, and the cursor says whether there are more. */
  readonly limit: number;
  /** The cursor of the page before; text that means something to the same queue and state only; another is refused. */
  readonly cursor?: string | undefined;
}

export interface ListPage {
  readonly messages: readonly StoredMessage[];
  /** `undefined` when there are no more. A page that a cursor leads to can still be empty. */
  readonly cursor: string | undefined;
}

/** What `audit` found. */
export interface AuditReport {
  /** No problem was found. */
  readonly ok: boolean;
  /** At most 1,000 of them. */
  readonly problems: readonly {
    /** Which kind, a word with dashes; the engine's docs list them. */
    readonly kind: string;
    readonly id: string;
    /** A sentence for people. */
    readonly detail: string;
  }[];
  /** How many messages and index entries were looked at. */
  readonly checked: number;
}

export interface Counts {
  readonly scheduled: number;
  readonly due: number;
  readonly leased: number;
  readonly dead: number;
  readonly paused: boolean;
}

/** What a consumer is told between its claims. */
export interface Watcher {
  /** Claim at `at` unless you are to claim earlier anyway. May come before the reply of a claim that it is younger than. */
  wake(at: number): void;
  /** You need not claim before `at`: another consumer has done what you were waiting for. */
  postpone(at: number): void;
  /**
   * The store is out of reach, so claims will wait or fail; or nothing can be heard, though claims may be answered. Until
   * `recovered`, or for ever with `closed`: then the engine was closed.
   */
  interrupted(cause: PunctualError): void;
  /** It can be reached again: claim at once. */
  recovered(): void;
}

/** Why a message was buried, where the engine itself did it. */
export type BurialReason = "attempts" | "expired";
