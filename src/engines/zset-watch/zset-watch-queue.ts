import { type CommandArgument, CommandFailure, type Reply } from "../../clients/port.js";
import type { ClaimRequest, OpenOptions } from "../../engine.js";
import { PunctualError } from "../../errors.js";
import { isReplyLost } from "../../schemes/lost-reply.js";
import type { MemberKeys } from "../../schemes/member-keys.js";
import { MemberQueue } from "../../schemes/member-queue.js";
import { OneAtATime } from "../../schemes/one-at-a-time.js";
import type { SchemeContext } from "../../schemes/scheme-queue.js";
import { answerFrom, type ReadAnswer, readCommand, readScript } from "../../schemes/scripts/read.js";
import { SharedByName } from "../../schemes/shared-by-name.js";
import { firstOfEachId, type Haul, type Piece, type PieceRequest, takePieces } from "../../schemes/take-pieces.js";
import { pauseBefore } from "./pause-before.js";

/** How often a claim tries when others change the zset each time. Then it says that more is due, and comes again. */
const mostAttempts = 20;

type Send = (...command: readonly CommandArgument[]) => Promise<Reply>;

/** What transactions on one queue have to themselves, in one process. */
interface Desk {
  /** EXEC asks what the whole connection has watched, so nothing else may run on it. */
  readonly connection: ReturnType<SchemeContext["connect"]>;
  readonly transactions: OneAtATime;
}

const nothing: Piece = { read: [], ours: [], more: false };

const desks = new SharedByName<Desk>();

/**
 * An optimistic transaction: WATCH the zset, read what is due, and remove exactly what was read, if nobody changed the zset
 * meanwhile. Whole batches are ours or nobody's.
 */
export class ZsetWatchQueue extends MemberQueue {
  readonly #desk: Desk;

  constructor(context: SchemeContext, keys: MemberKeys, options: OpenOptions) {
    super(context, keys, options);
    this.#desk = desks.of(context, keys.schedule, () => ({
      connection: context.connect(),
      transactions: new OneAtATime(),
    }));
  }

  protected override async take(limit: number, _now: number, claim: ClaimRequest): Promise<Haul> {
    return await takePieces(limit, (wanted) => this.#takeSome(wanted, claim));
  }

  /** Takes the head. Where the zset was changed meanwhile, begins again. */
  async #takeSome(wanted: PieceRequest, claim: ClaimRequest): Promise<Piece> {
    const { connection, transactions } = this.#desk;
    for (let attempt = 1; attempt <= mostAttempts; attempt++) {
      // Within the run, so that the next one does not begin before the last command of this one has its answer, though
      // whoever waits for it has given up.
      const piece = await connection.run((send) => transactions.run(() => this.#transaction(send, wanted, claim)));
      if (piece !== "changed") return piece;
      await new Promise<void>((resolve) => this.clock.runAfter(pauseBefore(attempt), resolve));
    }
    return nothing;
  }

  async #transaction(send: Send, wanted: PieceRequest, claim: ClaimRequest): Promise<Piece | "changed"> {
    const { schedule } = this.keys;
    // MULTI goes out with the read, and is answered before anything is removed: after one that was refused, a ZREM would run
    // at once.
    const [watch, read, multi] = await Promise.allSettled([
      send("WATCH", schedule),
      send(...readCommand(this.keys, wanted)),
      send("MULTI"),
    ]);
    let due: ReadAnswer = nothing;
    try {
      for (const answer of [watch, read, multi]) if (answer.status === "rejected") throw answer.reason;
      if (read.status === "fulfilled") due = answerFrom(read.value);
    } finally {
      // The connection is not to stay in a transaction, or to go on watching.
      if (due.read.length === 0) await send(multi.status === "fulfilled" ? "DISCARD" : "UNWATCH");
      if (read.status === "rejected" && isUnknownScript(read.reason)) await send("SCRIPT", "LOAD", readScript.source);
    }
    if (due.read.length === 0) return nothing;
    const ours = firstOfEachId(due.read);
    // The turn is repeated where it fails, so it is waited for: it must not come to stand in the next transaction.
    const [removal, exec] = await Promise.allSettled([
      send("ZREM", schedule, ...ours.map(({ member }) => member.bytes)),
      send("EXEC"),
      this.turnAlong(this.#desk.connection, claim, { ...wanted, count: ours.length, more: due.more }),
    ]);
    for (const answer of [removal, exec]) {
      if (answer.status === "fulfilled") continue;
      if (isReplyLost(answer.reason)) this.giveUpGone(ours);
      throw answer.reason;
    }
    const removed = exec.status === "fulfilled" ? exec.value : undefined;
    if (removed === null) return "changed";
    if (Array.isArray(removed) && removed[0] === ours.length) return { ...due, ours };
    this.giveUpGone(ours);
    throw new PunctualError("outcome-unknown", `EXEC did not remove the ${ours.length} members that were read.`);
  }
}

function isUnknownScript(failure: unknown): boolean {
  return failure instanceof CommandFailure && failure.code === "NOSCRIPT";
}
