import type { ClaimRequest, ClaimResult, Counts, OpenOptions, Watcher } from "../../engine.js";
import { asArray, asBytes } from "../../scripting/reply.js";
import { decodeMember } from "../../schemes/member.js";
import { MemberQueue, type Taken } from "../../schemes/member-queue.js";
import type { SchemeContext } from "../../schemes/scheme-queue.js";
import type { LineKeys, Look } from "./line-keys.js";
import { ListWait, longestWait } from "./list-wait.js";
import { clear } from "./scripts/clear.js";
import { countLine } from "./scripts/count-line.js";
import { pause } from "./scripts/pause.js";
import { resume } from "./scripts/resume.js";
import { take } from "./scripts/take.js";

/**
 * Whole messages in a zset; those that are due move to a list, and whoever pops one delivers it. At most once: a crash loses
 * what the process holds, and a cut connection what was on its way.
 */
export class PlainQueue extends MemberQueue {
  readonly #line: LineKeys;
  readonly #wait: ListWait;
  /** What was popped by a call that blocked; the next claim gives it out. */
  #popped: Taken[] = [];
  /** What claims under way saw, by token. */
  readonly #looks = new Map<string, Look>();

  constructor(context: SchemeContext, keys: LineKeys, options: OpenOptions) {
    super(context, keys, options);
    this.#line = keys;
    this.#wait = new ListWait(context);
  }

  override async claim(request: ClaimRequest): Promise<ClaimResult> {
    try {
      const first = await super.claim(request);
      const look = this.#looks.get(request.token);
      if (first.messages.length > 0 || request.limit === 0 || request.returns === false) return first;
      if (look === undefined || !this.#wait.pays(look) || !(await this.#block(request.consumer))) return first;
      return await super.claim(request);
    } finally {
      this.#looks.delete(request.token);
    }
  }

  override watch(consumer: string, watcher: Watcher): Promise<AsyncDisposable> {
    return super.watch(consumer, this.#wait.releasing(consumer, watcher));
  }

  override async counts(): Promise<Counts> {
    return { ...(await super.counts()), ...(await countLine(this.calls, this.#line)) };
  }

  override purge(what: "waiting" | "dead"): Promise<number> {
    return what === "waiting" ? clear(this.calls, this.#line) : super.purge(what);
  }

  override pause(): Promise<void> {
    return pause(this.calls, this.#line);
  }

  override resume(): Promise<void> {
    return resume(this.calls, this.#line);
  }

  protected override async take(limit: number, _now: number, request: ClaimRequest): Promise<Taken[]> {
    const popped = this.#popped.splice(0, limit);
    const consumer = this.watches.nameOf(request.consumer);
    try {
      const { entries, ...look } = await take(this.work, this.#line, {
        ...request,
        consumer,
        limit: limit - popped.length,
      });
      this.#looks.set(request.token, look);
      return [...popped, ...entries.map(takenFrom)];
    } catch (error) {
      this.#popped.unshift(...popped);
      throw error;
    }
  }

  /** The script that took has taken the turn, too. */
  protected override async turn(request: ClaimRequest, full: boolean): Promise<Pick<Look, "now" | "nextAt">> {
    return this.#looks.get(request.token) ?? (await super.turn(request, full));
  }

  /** Waits until something is in the list; answers whether it was popped. */
  async #block(consumer: string): Promise<boolean> {
    const reply = await this.#wait.wait(consumer, [["BRPOP", this.#line.ready, String(longestWait / 1_000)]]);
    if (reply === null) return false;
    this.#popped.push(takenFrom(asBytes(asArray(reply, "BRPOP")[1], "BRPOP: entry")));
    return true;
  }
}

/** Reads an entry of the list: due time (f64) and message. */
function takenFrom(entry: Buffer): Taken {
  return { member: decodeMember(entry.subarray(8)), dueAt: entry.readDoubleBE(0) };
}
