import type { ClaimRequest, ClaimResult, Counts, OpenOptions, Watcher } from "../../engine.js";
import { idGenerator } from "../../message-id.js";
import { asArray, asBytes } from "../../scripting/reply.js";
import { decodeMember } from "../../schemes/member.js";
import { MemberQueue, type Taken } from "../../schemes/member-queue.js";
import type { SchemeContext } from "../../schemes/scheme-queue.js";
import { SharedByName } from "../../schemes/shared-by-name.js";
import type { Haul } from "../../schemes/take-pieces.js";
import { counted } from "../../scripting/done-count.js";
import type { LineKeys, Look } from "./line-keys.js";
import { ListWait, longestWait } from "./list-wait.js";
import { Popped } from "./popped.js";
import { clear } from "./scripts/clear.js";
import { countLine } from "./scripts/count-line.js";
import { pause } from "./scripts/pause.js";
import { resume } from "./scripts/resume.js";
import { take } from "./scripts/take.js";

/** What all that block on one queue have in common, in one engine. */
interface Counter {
  readonly wait: ListWait;
  readonly popped: Popped;
  /** Watches that have not ended. */
  watches: number;
}

const guarantee = "The engine zset-list delivers at most once; with the option reliable it would deliver them again.";

const counters = new SharedByName<Counter>();

/**
 * Whole messages in a zset; those that are due move to a list, and whoever pops one delivers it. At most once: a crash loses
 * what the process holds, and a cut connection what was on its way.
 */
export class PlainQueue extends MemberQueue {
  readonly #line: LineKeys;
  readonly #counter: Counter;
  /** What claims under way saw, by token. */
  readonly #looks = new Map<string, Look>();
  readonly #nameCall = idGenerator();

  constructor(context: SchemeContext, keys: LineKeys, options: OpenOptions) {
    super(context, keys, options);
    this.#line = keys;
    this.#counter = counters.of(context, keys.state, () => ({
      wait: new ListWait(context),
      popped: new Popped(),
      watches: 0,
    }));
  }

  override async claim(request: ClaimRequest): Promise<ClaimResult> {
    try {
      const first = await super.claim(request);
      const look = this.#looks.get(request.token);
      const isEmpty = first.messages.length === 0 && first.buried.length === 0;
      if (!isEmpty || request.limit === 0 || request.returns === false) return first;
      if (look === undefined || !this.#counter.wait.pays(look) || !(await this.#block(request.consumer))) return first;
      return await super.claim(request);
    } finally {
      this.#looks.delete(request.token);
      await this.#giveBackUnclaimed();
    }
  }

  override async watch(consumer: string, watcher: Watcher): Promise<AsyncDisposable> {
    const counter = this.#counter;
    const watch = await super.watch(consumer, counter.wait.releasing(consumer, watcher));
    counter.watches += 1;
    let counts = true;
    return {
      [Symbol.asyncDispose]: async () => {
        if (counts) counter.watches -= 1;
        counts = false;
        await watch[Symbol.asyncDispose]();
        await this.#giveBackUnclaimed();
      },
    };
  }

  /** What consumers popped or hold is known to their processes alone: `due` and `leased` count those of this one. */
  override async counts(): Promise<Counts> {
    const { scheduled, due, paused } = await countLine(this.calls, this.#line);
    const leased = await this.countHeld();
    return { scheduled, due: due + this.#counter.popped.size, leased, dead: 0, paused };
  }

  override async purge(what: "waiting" | "dead"): Promise<number> {
    if (what === "dead") return await super.purge(what);
    const { popped } = this.#counter;
    return await counted("messages were purged", async (count) => {
      const before = popped.all();
      await clear(this.calls, this.#line, count);
      // Not what was popped since: it may have been scheduled after the call.
      count(popped.settle(before).length, false);
    });
  }

  override pause(): Promise<void> {
    return pause(this.calls, this.#line);
  }

  override resume(): Promise<void> {
    return resume(this.calls, this.#line);
  }

  protected override async take(limit: number, _now: number, request: ClaimRequest): Promise<Haul> {
    const { popped } = this.#counter;
    const reserved = popped.reserve(limit);
    const wanted = {
      ...request,
      consumer: this.watches.nameOf(request.consumer),
      limit: limit - reserved.length,
    };
    try {
      const { entries, paused, lost, ...look } = await take(this.work, this.#line, wanted, this.#nameCall());
      if (lost.length > 0) await this.tellLost(lost, guarantee);
      this.#looks.set(request.token, look);
      if (!paused) return { taken: [...popped.settle(reserved), ...entries.map(takenFrom)] };
    } catch (error) {
      popped.leave(reserved);
      throw error;
    }
    // The pause began after it was popped.
    await this.#putBack(reserved);
    return { taken: [] };
  }

  /** The script that took has taken the turn, too. */
  protected override async turn(request: ClaimRequest, full: boolean): Promise<Pick<Look, "now" | "nextAt">> {
    return this.#looks.get(request.token) ?? (await super.turn(request, full));
  }

  /** Puts back what was popped when no consumer is left that would claim it. */
  async #giveBackUnclaimed(): Promise<void> {
    const { popped, watches } = this.#counter;
    if (watches === 0) await this.#putBack(popped.reserve());
  }

  /** Puts back what was reserved of what was popped; it counts until it is back. */
  async #putBack(reserved: readonly Taken[]): Promise<void> {
    const { popped } = this.#counter;
    const back = popped.remaining(reserved);
    if (back.length > 0) await this.giveBack(back);
    popped.settle(back);
  }

  /** Waits until something is in the list; answers whether it was popped. */
  async #block(consumer: string): Promise<boolean> {
    const reply = await this.#counter.wait.wait(consumer, [["BRPOP", this.#line.ready, String(longestWait / 1_000)]]);
    if (reply === null) return false;
    this.#counter.popped.add(takenFrom(asBytes(asArray(reply, "BRPOP")[1], "BRPOP: entry")));
    return true;
  }
}

/** Reads an entry of the list: due time (f64) and message. */
function takenFrom(entry: Buffer): Taken {
  return { member: decodeMember(entry.subarray(8)), dueAt: entry.readDoubleBE(0) };
}
