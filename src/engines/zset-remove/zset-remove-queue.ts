import type { CommandArgument, Reply } from "../../clients/port.js";
import type { ClaimRequest, OpenOptions } from "../../engine.js";
import { PunctualError } from "../../errors.js";
import { isReplyLost } from "../../schemes/lost-reply.js";
import type { MemberKeys } from "../../schemes/member-keys.js";
import { MemberQueue, type Taken } from "../../schemes/member-queue.js";
import { OneAtATime } from "../../schemes/one-at-a-time.js";
import type { SchemeContext } from "../../schemes/scheme-queue.js";
import { readDue } from "../../schemes/scripts/read.js";
import { SharedByName } from "../../schemes/shared-by-name.js";
import { firstOfEachId, type Haul, type Piece, type PieceRequest, takePieces } from "../../schemes/take-pieces.js";
import { Skip } from "./skip.js";

/** How often a claim reads again when others removed all that it read. Then it says that more is due, and comes again. */
const mostRaces = 20;

type Send = (...command: readonly CommandArgument[]) => Promise<Reply>;

/** What the consumers of a queue have in common, in one process. */
interface Course {
  /** Those that read the same head at the same time would race for it. */
  readonly turns: OneAtATime;
  readonly skip: Skip;
}

const courses = new SharedByName<Course>();

/**
 * Who removes it has it: reads a few due members, and removes each of them. Where that removed one, it is ours; where it
 * removed none, another consumer was faster.
 */
export class ZsetRemoveQueue extends MemberQueue {
  readonly #course: Course;

  constructor(context: SchemeContext, keys: MemberKeys, options: OpenOptions) {
    super(context, keys, options);
    this.#course = courses.of(context, keys.schedule, () => ({ turns: new OneAtATime(), skip: new Skip() }));
  }

  protected override async take(limit: number, _now: number, claim: ClaimRequest): Promise<Haul> {
    return await this.#course.turns.run(() => takePieces(limit, (wanted) => this.#takeSome(wanted, claim)));
  }

  /** Reads the head and removes it. Where others removed all of it, there is a new head. */
  async #takeSome(wanted: PieceRequest, claim: ClaimRequest): Promise<Piece> {
    for (let race = 1; ; race++) {
      const { skip } = this.#course;
      const { read, more } = await readDue(this.work, this.keys, { ...wanted, skip: skip.next() });
      const members = firstOfEachId(read);
      if (members.length === 0) return { read, ours: [], more };
      const sent = () => void this.turnAlong(this.work, claim, { ...wanted, count: members.length, more });
      const { ours, failure } = await this.#remove(members, sent);
      if (failure === undefined) skip.lost(members.length - ours.length, members.length);
      if (ours.length > 0 || race === mostRaces) return { read, ours, more, failure };
    }
  }

  /** Removes members in one write. What was removed is ours, also when the answer of another one is lost. */
  async #remove(members: readonly Taken[], sent: () => void): Promise<Pick<Piece, "ours" | "failure">> {
    const ours: Taken[] = [];
    const unanswered = new Set(members);
    const remove = async (send: Send, one: Taken) => {
      try {
        if ((await send("ZREM", this.keys.schedule, one.member.bytes)) === 1) ours.push(one);
        unanswered.delete(one);
      } catch (error) {
        // Then it is where it was.
        if (!isReplyLost(error)) unanswered.delete(one);
        throw error;
      }
    };
    try {
      await this.work.run(async (send) => {
        const answers = Promise.allSettled(members.map((one) => remove(send, one)));
        sent();
        const failures = (await answers).filter((answer) => answer.status === "rejected");
        const worst = failures.find(({ reason }) => isReplyLost(reason)) ?? failures[0];
        if (worst !== undefined && (ours.length === 0 || isReplyLost(worst.reason))) throw worst.reason;
      });
      return { ours };
    } catch (error) {
      if (!(error instanceof PunctualError)) throw error;
      if (error.code === "outcome-unknown") this.giveUpGone([...unanswered]);
      if (ours.length === 0) throw error;
      // A copy: when the time for the call was over, answers may still come, and it is too late for those.
      return { ours: [...ours], failure: error };
    }
  }
}
