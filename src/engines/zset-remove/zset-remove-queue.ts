import type { CommandArgument, Reply } from "../../clients/port.js";
import type { OpenOptions } from "../../engine.js";
import type { MemberKeys } from "../../schemes/member-keys.js";
import { MemberQueue, type Taken } from "../../schemes/member-queue.js";
import { OneAtATime } from "../../schemes/one-at-a-time.js";
import type { SchemeContext } from "../../schemes/scheme-queue.js";
import { SharedByName } from "../../schemes/shared-by-name.js";
import { firstOfEachId, type Piece, takenFrom, takePieces } from "../../schemes/take-pieces.js";

/** How often a claim reads again when others removed all that it read. Then it says that more is due, and comes again. */
const mostRaces = 20;

type Send = (...command: readonly CommandArgument[]) => Promise<Reply>;

const turns = new SharedByName<OneAtATime>();

/**
 * Who removes it has it: reads a few due members, and removes each of them. Where that removed one, it is ours; where it
 * removed none, another consumer was faster.
 */
export class ZsetRemoveQueue extends MemberQueue {
  readonly #turns: OneAtATime;

  constructor(context: SchemeContext, keys: MemberKeys, options: OpenOptions) {
    super(context, keys, options);
    this.#turns = turns.of(context, keys.schedule, () => new OneAtATime());
  }

  protected override async take(limit: number): Promise<Taken[]> {
    return await this.#turns.run(async () => {
      return await takePieces(limit, await this.biggest(), (few) => this.#takeSome(few));
    });
  }

  /** Reads the head and removes it. Where others removed all of it, there is a new head. */
  async #takeSome(few: number): Promise<Piece> {
    for (let race = 1; ; race++) {
      const piece = await this.work.run((send) => this.#race(send, few));
      if (piece.ours.length > 0 || piece.read.length === 0 || race === mostRaces) return piece;
    }
  }

  async #race(send: Send, few: number): Promise<Piece> {
    const { schedule } = this.keys;
    // Asked for here: without a connection the clock does not know the server's time.
    const now = String(this.clock.now());
    const read = takenFrom(await send("ZRANGEBYSCORE", schedule, "-inf", now, "WITHSCORES", "LIMIT", "0", String(few)));
    const wanted = firstOfEachId(read);
    // In one write. What was removed is ours, also when the answer of another one is lost.
    const answers = await Promise.allSettled(wanted.map(({ member }) => send("ZREM", schedule, member.bytes)));
    const ours = wanted.filter((_, index) => isOne(answers[index]));
    const failed = answers.find((answer) => answer.status === "rejected");
    if (ours.length === 0 && failed !== undefined) throw failed.reason;
    return { read, ours };
  }
}

function isOne(answer: PromiseSettledResult<Reply> | undefined): boolean {
  return answer?.status === "fulfilled" && answer.value === 1;
}
