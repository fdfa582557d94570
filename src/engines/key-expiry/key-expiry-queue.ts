import type {
  CallOptions,
  ClaimRequest,
  ClaimResult,
  Counts,
  NewMessage,
  OpenOptions,
  Reschedule,
  ScheduleResult,
  StoredMessage,
  Watcher,
} from "../../engine.js";
import { PunctualError } from "../../errors.js";
import { AtMostOnceQueue, type Placing, type PutBack, type Taken } from "../../schemes/at-most-once-queue.js";
import { idGenerator } from "../../message-id.js";
import type { Lease } from "../../schemes/holdings.js";
import { encodeMember } from "../../schemes/member.js";
import { bytesPerCall } from "../../scripting/in-chunks.js";
import type { Refusals, SchemeContext } from "../../schemes/scheme-queue.js";
import { unsupported } from "../../unsupported.js";
import { asResults } from "../../schemes/scripts/schedule.js";
import { SharedByName } from "../../schemes/shared-by-name.js";
import type { Haul } from "../../schemes/take-pieces.js";
import { poll } from "../../waking/keys.js";
import { Hearing } from "./hearing.js";
import type { KeyExpiryKeys } from "./keys.js";
import { cancel } from "./scripts/cancel.js";
import { get } from "./scripts/get.js";
import { pause } from "./scripts/pause.js";
import { purge } from "./scripts/purge.js";
import { reschedule } from "./scripts/reschedule.js";
import { resume } from "./scripts/resume.js";
import { schedule } from "./scripts/schedule.js";
import { survey } from "./scripts/survey.js";
import { take, type TakeAnswer } from "./scripts/take.js";

const noIndex =
  "each message is a key of its own and in no index, so one that is astray is found only among the names of all keys of the server";

const refusals: Refusals = {
  list: "it keeps messages in no order",
  audit: noIndex,
  repair: noIndex,
};

const guarantee = "The engine key-expiry delivers at most once; the engine redis would deliver them again.";

/** Calls that a claim makes at most, so that it asks for 1,000 messages at most. */
const mostCalls = 4;

/** How long a consumer that leaves waits for Redis, ms. */
const leaveTimeout = 1_000;

/** What a claim saw, and when its consumer is to claim again. */
interface Look {
  /** What came due was heard for the consumer, so it need not look. */
  readonly hears: boolean;
  /** 0 until Redis has told it. */
  readonly now: number;
  readonly nextAt: number;
}

const unasked: Look = { hears: false, now: 0, nextAt: 0 };

const hearings = new SharedByName<Hearing>();

/** Each message has a key that expires when it is due. Who hears of it asks for the message, and the first that asks has it. */
export class KeyExpiryQueue extends AtMostOnceQueue {
  readonly #keys: KeyExpiryKeys;
  readonly #engine: string;
  readonly #remembers: boolean;
  readonly #hearing: Hearing;
  /** What claims under way saw, by token. */
  readonly #looks = new Map<string, Look>();
  readonly #nameCall = idGenerator();

  constructor(context: SchemeContext, keys: KeyExpiryKeys, options: OpenOptions) {
    super(context, keys, refusals, options);
    this.#keys = keys;
    this.#engine = context.engine;
    this.#remembers = (options.rememberFor ?? 0) > 0;
    this.#hearing = hearings.of(context, keys.state, () => new Hearing(context.work, keys));
  }

  /** What others hold is not known here: an id that another process works on is scheduled as a new one. */
  async schedule(messages: readonly NewMessage[], options?: CallOptions): Promise<ScheduleResult[]> {
    if (this.#remembers)
      throw unsupported(this.#engine, "schedule with rememberFor", "it forgets an id with its message", {
        operation: "schedule",
      });
    const leases = messages.map(({ id }) => this.#leaseOn(id));
    const storing = messages
      .filter((_, index) => leases[index] === undefined)
      .map((message) => ({
        id: message.id,
        member: encodeMember(message),
        due: message.due,
        replaces: message.onDuplicate === "replace",
      }));
    if (storing.length === messages.length) return asResults(await schedule(this.calls, this.#keys, storing, options));
    const stored = asResults(await schedule(this.calls, this.#keys, storing, options))[Symbol.iterator]();
    return messages.flatMap(({ onDuplicate }, index): ScheduleResult[] => {
      const lease = leases[index];
      if (lease !== undefined)
        return [{ outcome: onDuplicate === "replace" ? "leased" : "duplicate", dueAt: lease.dueAt }];
      const next = stored.next();
      return next.done === true ? [] : [next.value];
    });
  }

  override async claim(request: ClaimRequest): Promise<ClaimResult> {
    const { watched, hears } = this.#hearing.claiming(request.consumer, request.returns !== false);
    this.#looks.set(request.token, { hears, now: 0, nextAt: 0 });
    let waits = false;
    try {
      const result = await super.claim(request);
      waits = request.returns !== false && result.nextAt > result.now;
      return result;
    } finally {
      this.#looks.delete(request.token);
      if (watched) this.#hearing.claimed(request.consumer, waits);
    }
  }

  override async watch(consumer: string, watcher: Watcher): Promise<AsyncDisposable> {
    const watch = await this.#hearing.watch(consumer, watcher);
    return {
      [Symbol.asyncDispose]: async () => {
        await Promise.all([watch[Symbol.asyncDispose](), this.#forget(consumer)]);
      },
    };
  }

  /** Takes a consumer off the books. Does its best: when Redis is out of reach, another one finds the entry. */
  async #forget(consumer: string): Promise<void> {
    try {
      await this.work.run((send) => send("HDEL", this.#keys.claims, consumer), { timeout: leaveTimeout });
    } catch (error) {
      if (!(error instanceof PunctualError)) throw error;
    }
  }

  /** What another process works on is `absent`: nobody else knows of it. */
  override async cancel(ids: readonly string[]) {
    const answers = await cancel(this.calls, this.#keys, ids);
    return answers.map((answer, index) => (answer === "absent" && this.#holds(ids[index]) ? "leased" : answer));
  }

  override async reschedule(changes: readonly Reschedule[]) {
    const answers = await reschedule(this.calls, this.#keys, changes);
    return answers.map((answer, index) => (answer === "absent" && this.#holds(changes[index]?.id) ? "leased" : answer));
  }

  override async get(ids: readonly string[]): Promise<(StoredMessage | undefined)[]> {
    const stored = await get(this.calls, this.#keys, ids);
    return stored.map((message, index) => message ?? asLeased(this.#leaseOn(ids[index])));
  }

  /**
   * Asks about every message, 250 at a time: a call and about 0.3 ms of Redis for each 250. What comes and goes meanwhile may be
   * counted or not. What consumers hold is known to their processes alone: `leased` counts those of this one.
   */
  override async counts(): Promise<Counts> {
    const waiting = await survey(this.calls, this.#keys);
    return { ...waiting, leased: await this.countHeld(), dead: 0 };
  }

  /** Visits every message, as `counts` does. */
  override purge(what: "waiting" | "dead"): Promise<number> {
    return what === "waiting" ? purge(this.calls, this.#keys) : this.refuse("purge", "dead letters");
  }

  override pause(): Promise<void> {
    return pause(this.calls, this.#keys);
  }

  override resume(): Promise<void> {
    return resume(this.calls, this.#keys);
  }

  protected override take(limit: number, _now: number, request: ClaimRequest): Promise<Haul> {
    return this.#look(limit, request);
  }

  /** The calls that took have told the time, too; a claim that takes nothing makes one. */
  protected override async turn(request: ClaimRequest): Promise<Look> {
    const { token } = request;
    if ((this.#looks.get(token) ?? unasked).now === 0) await this.#look(0, request);
    const look = this.#looks.get(token) ?? unasked;
    // The call that told the time may be long over, when one after it got no answer: leases must not begin then.
    return { ...look, now: Math.max(look.now, this.clock.now()) };
  }

  protected override async place(putBacks: readonly PutBack[]): Promise<Placing[]> {
    const storing = putBacks.map((putBack) => ({ ...putBack, replaces: false }));
    const placed = await schedule(this.work, this.#keys, storing, { back: true });
    return placed.map(({ outcome }) => {
      if (outcome === "outcome-unknown") return outcome;
      return outcome === "duplicate" ? "given-up" : "back";
    });
  }

  /** Takes what was heard of, and what a sweep finds; notes when the consumer is to claim again. */
  async #look(limit: number, { token, consumer }: ClaimRequest): Promise<Haul> {
    const { inbox } = this.#hearing;
    const { hears } = this.#looks.get(token) ?? unasked;
    const rounds = hears && this.#hearing.round();
    // Who does not hear has to look. Those that do have one of them look about now and then.
    if ((!hears && limit > 0) || rounds) inbox.sweep(!hears);
    const taken: Taken[] = [];
    let bytes = 0;
    let soonest = Infinity;
    for (let call = 1; ; call++) {
      const reads = inbox.behind || (rounds && call === 1);
      let some: TakeAnswer;
      try {
        some = await this.#ask(consumer, { limit: limit - taken.length, reads, probes: rounds && call === 1 });
      } catch (failure) {
        // What was taken is nowhere else.
        if (taken.length === 0) throw failure;
        return { taken, failure };
      }
      taken.push(...some.taken);
      bytes += some.taken.reduce((sum, { member }) => sum + member.bytes.length, 0);
      const full = taken.length >= limit;
      if (!hears) soonest = Math.min(soonest, some.soonest);
      // Who is full claims when it has room: it may have been called for what it could not take.
      const goesOn = inbox.behind || (full && hears);
      this.#looks.set(token, { hears, now: some.now, nextAt: goesOn ? some.now : Math.min(soonest, some.now + poll) });
      if (full || bytes > bytesPerCall || call === mostCalls || !inbox.behind) break;
    }
    return { taken };
  }

  /** One call: asks for some ids, and reads on where the sweep is. */
  async #ask(
    consumer: string,
    { limit, reads, probes }: { readonly limit: number; readonly reads: boolean; readonly probes: boolean },
  ): Promise<TakeAnswer> {
    const { inbox } = this.#hearing;
    const ids = limit === 0 ? [] : inbox.draw(limit);
    const cursor = reads ? inbox.cursor : undefined;
    let answer: TakeAnswer;
    try {
      const call = this.#nameCall();
      answer = await take(this.work, this.#keys, { consumer, call, ids, limit, cursor, probes });
      inbox.hear(answer.left);
      inbox.paused = answer.paused;
      if (cursor !== undefined) inbox.learn(cursor, answer.cursor, answer.page);
    } catch (error) {
      inbox.hear(ids);
      throw error;
    }
    if (answer.lost.length > 0) await this.tellLost(answer.lost, guarantee);
    return answer;
  }

  #leaseOn(id: string | undefined): Lease | undefined {
    return id === undefined ? undefined : this.held.find(id, this.clock.now());
  }

  #holds(id: string | undefined): boolean {
    return this.#leaseOn(id) !== undefined;
  }
}

/** A message that this process holds, as it is read. */
function asLeased(lease: Lease | undefined): StoredMessage | undefined {
  if (lease === undefined) return undefined;
  const { member, dueAt, until: leaseUntil } = lease;
  const { id, headers, delivered } = member;
  const payload = Buffer.from(member.payload);
  return { id, state: "leased", payload, dueAt, attempt: delivered + 1, leaseUntil, ...(headers && { headers }) };
}
