import type {
  CallOptions,
  ClaimRequest,
  ClaimResult,
  Counts,
  NewMessage,
  OpenOptions,
  ScheduleResult,
} from "../engine.js";
import { PunctualError } from "../errors.js";
import { resultsOf, sameFailure } from "../partial-results.js";
import { asArray } from "../scripting/reply.js";
import type { Evaluator } from "../scripting/script.js";
import { takeTurn } from "../waking/turn.js";
import { unsupported } from "../unsupported.js";
import { AtMostOnceQueue, type Placing, type PutBack, type Taken } from "./at-most-once-queue.js";
import { encodeMember } from "./member.js";
import type { MemberKeys } from "./member-keys.js";
import type { Refusals, SchemeContext } from "./scheme-queue.js";
import { countWaiting } from "./scripts/counts.js";
import { pause } from "./scripts/pause.js";
import { purgeWaiting } from "./scripts/purge.js";
import { resume } from "./scripts/resume.js";
import { asResults, schedule } from "./scripts/schedule.js";

export type { Taken };

const byBytes = "it finds a message by all of its bytes, which nobody knows who has only its id";

const refusals: Refusals = {
  cancel: byBytes,
  reschedule: byBytes,
  get: byBytes,
  list: "a place among messages of one due time is named by a whole message, too much for a cursor",
  audit: "it keeps each message in one place, so there is nothing to hold against it",
  repair: "it keeps each message in one place, so there is nothing to hold against it",
};

type Turn = Awaited<ReturnType<typeof takeTurn>>;

/** What is being removed for a claim: how many, the room that it has for them, and whether more may be due. */
interface LastPiece {
  readonly count: number;
  readonly room: number;
  readonly more: boolean;
}

/**
 * A queue whose messages are whole members of a zset, by due time. What is put back is a member again, and two that are the same
 * bytes are one.
 */
export abstract class MemberQueue extends AtMostOnceQueue {
  protected readonly keys: MemberKeys;
  readonly #engine: string;
  readonly #remembers: boolean;
  /** Turns that went out with what claims under way removed, by token. */
  readonly #along = new Map<string, { readonly full: boolean; readonly turn: Promise<Turn> }>();

  constructor(context: SchemeContext, keys: MemberKeys, options: OpenOptions) {
    super(context, keys, refusals, options);
    this.keys = keys;
    this.#engine = context.engine;
    this.#remembers = (options.rememberFor ?? 0) > 0;
  }

  async schedule(messages: readonly NewMessage[], options?: CallOptions) {
    if (this.#remembers) {
      throw unsupported(this.#engine, "schedule with rememberFor", "it forgets an id with its message", {
        operation: "schedule",
      });
    }
    const kept = messages.filter(({ onDuplicate }) => onDuplicate !== "replace");
    if (kept.length === messages.length) return await this.#store(messages, options);
    // Calls of one tick come in one batch: those that can be stored are, and only the others are refused.
    const why = "it finds a message by all of its bytes, not by its id";
    let failure = unsupported(this.#engine, "schedule as a replacement", why, { operation: "schedule" });
    let known: readonly unknown[] = [];
    try {
      known = await this.#store(kept, options);
    } catch (error) {
      if (!(error instanceof PunctualError)) throw error;
      failure = error;
      known = resultsOf(error);
    }
    let next = 0;
    const results = messages.map(({ onDuplicate }) => (onDuplicate === "replace" ? undefined : known[next++]));
    throw sameFailure(failure, { ...failure.details, results });
  }

  /** Stores messages; one that is there with the very same bytes stays as it is. */
  async #store(messages: readonly NewMessage[], options?: CallOptions): Promise<ScheduleResult[]> {
    const placements = messages.map((message) => ({ member: encodeMember(message), due: message.due }));
    return asResults(await schedule(this.calls, this.keys, placements, options));
  }

  /** What consumers hold is known to their processes alone: `leased` counts those of this one. */
  override async counts(): Promise<Counts> {
    const waiting = await countWaiting(this.calls, this.keys);
    return { ...waiting, leased: await this.countHeld(), dead: 0 };
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

  override async claim(request: ClaimRequest): Promise<ClaimResult> {
    try {
      return await super.claim(request);
    } finally {
      this.#along.delete(request.token);
    }
  }

  /**
   * Takes the turn of a claim with the removal of its last piece, on the connection of that and behind it, so that a claim does
   * not wait once more. It is the turn of the claim when that is as full then as it is taken to be here. Resolves when it is over.
   */
  protected async turnAlong(
    evaluator: Evaluator,
    request: ClaimRequest,
    { count, room, more }: LastPiece,
  ): Promise<void> {
    const full = count >= room;
    if (more && !full) return;
    const turn = this.#takeTurn(evaluator, request, full);
    this.#along.set(request.token, { full, turn });
    // Its failure is that of the claim, if the claim needs it.
    await turn.catch(() => {});
  }

  /**
   * Counts and tells those that a claim may have removed, without an answer, and that are gone. Some of them somebody else may
   * have: nobody can know. Not waited for, since a new connection is needed, and what the claim has is to be delivered.
   */
  protected giveUpGone(doubtful: readonly Taken[]): void {
    const members = doubtful.map(({ member }) => member.bytes);
    const places = [this.keys.schedule, this.keys.parked ?? this.keys.schedule];
    this.work
      .run((send) => Promise.all(places.map((place) => send("ZMSCORE", place, ...members))))
      .then(async (answers) => {
        const scores = answers.map((answer) => asArray(answer, "ZMSCORE"));
        const gone = doubtful.filter((_, index) => scores.every((score) => score[index] === null));
        if (gone.length > 0) await this.giveUp(gone.map(({ member }) => member.id));
      })
      .catch((error: unknown) => {
        // The claim has failed with `outcome-unknown`, and says no more than that.
        if (!(error instanceof PunctualError)) throw error;
      });
  }

  /** Takes a turn in looking out for what comes due, after a claim that left its consumer room or not. */
  protected override async turn(request: ClaimRequest, full: boolean): Promise<Turn> {
    const along = this.#along.get(request.token);
    return await (along?.full === full ? along.turn : this.#takeTurn(this.work, request, full));
  }

  async #takeTurn(evaluator: Evaluator, { consumer, returns = true }: ClaimRequest, full: boolean): Promise<Turn> {
    return await takeTurn(evaluator, this.keys, { consumer: this.watches.nameOf(consumer), returns, full });
  }

  protected override async place(putBacks: readonly PutBack[]): Promise<Placing[]> {
    const placed = await schedule(this.work, this.keys, putBacks, { back: true });
    return placed.map(({ outcome }) => (outcome === "outcome-unknown" ? outcome : "back"));
  }
}
