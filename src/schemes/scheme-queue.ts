import type { Clock } from "../clock.js";
import type { Supervisor } from "../connection/supervisor.js";
import type {
  AuditReport,
  Burial,
  CallOptions,
  ClaimRequest,
  ClaimResult,
  Counts,
  DueTime,
  EngineQueue,
  Extension,
  ListPage,
  ListQuery,
  NewMessage,
  Receipt,
  Release,
  Reschedule,
  Retry,
  ScheduleResult,
  Settlement,
  StoredMessage,
  Watcher,
} from "../engine.js";
import { PunctualError } from "../errors.js";
import { type Operation, unsupported } from "../unsupported.js";
import type { WakingKeys } from "../waking/keys.js";
import { Watches } from "../waking/watches.js";

/** What an engine may be unable to do. */
export type Refusable = Exclude<
  Operation,
  "schedule" | "claim" | "acknowledge" | "retry" | "release" | "bury" | "extend" | "watch"
>;

/** Why an engine cannot do what it refuses: the end of a sentence that begins with "zset-remove cannot cancel:". */
export type Refusals = Readonly<Partial<Record<Refusable, string>>>;

/** What a queue of a scheme is made with. */
export interface SchemeContext {
  /** The name of the engine. */
  readonly engine: string;
  /** Runs claims and what follows them, and hears the consumers' channels. */
  readonly work: Supervisor;
  /** Runs everything else, so that a bulk schedule does not stand in front of a claim. */
  readonly calls: Supervisor;
  /** One more connection, for what needs one to itself; it is closed with the engine. */
  connect(): Supervisor;
}

/**
 * A queue of one of the schemes. What a scheme cannot do by its nature is refused with `unsupported`; it overrides what it
 * can do.
 */
export abstract class SchemeQueue implements EngineQueue {
  readonly clock: Clock;
  protected readonly work: Supervisor;
  protected readonly calls: Supervisor;
  protected readonly watches: Watches;
  readonly #engine: string;
  readonly #refusals: Refusals;

  protected constructor({ engine, work, calls }: SchemeContext, keys: WakingKeys, refusals: Refusals) {
    this.clock = work.clock;
    this.work = work;
    this.calls = calls;
    this.watches = new Watches(work, keys);
    this.#engine = engine;
    this.#refusals = refusals;
  }

  get closed(): boolean {
    return this.work.closed;
  }

  abstract schedule(messages: readonly NewMessage[], options?: CallOptions): Promise<ScheduleResult[]>;
  abstract claim(request: ClaimRequest): Promise<ClaimResult>;
  abstract acknowledge(receipts: readonly Receipt[]): Promise<Settlement[]>;
  abstract retry(retries: readonly Retry[]): Promise<Settlement[]>;
  abstract release(releases: readonly Release[]): Promise<Settlement[]>;
  abstract bury(burials: readonly Burial[]): Promise<Settlement[]>;
  abstract extend(receipts: readonly Receipt[], lease: number): Promise<Extension[]>;

  watch(consumer: string, watcher: Watcher): Promise<AsyncDisposable> {
    return this.watches.start(consumer, watcher);
  }

  cancel(_ids: readonly string[]): Promise<("cancelled" | "leased" | "absent" | "outcome-unknown")[]> {
    return this.refuse("cancel");
  }

  reschedule(
    _changes: readonly Reschedule[],
  ): Promise<("rescheduled" | "leased" | "dead" | "absent" | "outcome-unknown")[]> {
    return this.refuse("reschedule");
  }

  get(_ids: readonly string[]): Promise<(StoredMessage | undefined)[]> {
    return this.refuse("get");
  }

  counts(): Promise<Counts> {
    return this.refuse("counts");
  }

  list(_query: ListQuery): Promise<ListPage> {
    return this.refuse("list");
  }

  revive(_ids: readonly string[] | "all", _due: DueTime): Promise<number> {
    return this.refuse("revive");
  }

  remove(_ids: readonly string[]): Promise<number> {
    return this.refuse("remove");
  }

  purge(_what: "waiting" | "dead"): Promise<number> {
    return this.refuse("purge");
  }

  audit(): Promise<AuditReport> {
    return this.refuse("audit");
  }

  repair(): Promise<AuditReport> {
    return this.refuse("repair");
  }

  pause(): Promise<void> {
    return this.refuse("pause");
  }

  resume(): Promise<void> {
    return this.refuse("resume");
  }

  /** Rejects with `unsupported`; `part` says what of an operation it is that cannot be done. */
  protected refuse(operation: Refusable, part = ""): Promise<never> {
    // What is over with is over with, also what could not be done before.
    if (this.closed) return Promise.reject(new PunctualError("closed", "The engine was closed."));
    const what = part === "" ? operation : `${operation} ${part}`;
    return Promise.reject(unsupported(this.#engine, what, this.#refusals[operation] ?? "", { operation }));
  }
}
