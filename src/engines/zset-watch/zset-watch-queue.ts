import type { CommandArgument, Reply } from "../../clients/port.js";
import type { OpenOptions } from "../../engine.js";
import { PunctualError } from "../../errors.js";
import type { MemberKeys } from "../../schemes/member-keys.js";
import { MemberQueue, type Taken } from "../../schemes/member-queue.js";
import { OneAtATime } from "../../schemes/one-at-a-time.js";
import type { SchemeContext } from "../../schemes/scheme-queue.js";
import { SharedByName } from "../../schemes/shared-by-name.js";
import { firstOfEachId, type Piece, takenFrom, takePieces } from "../../schemes/take-pieces.js";
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

  protected override async take(limit: number): Promise<Taken[]> {
    return await takePieces(limit, await this.biggest(), (few) => this.#takeSome(few));
  }

  /** Takes the head. Where the zset was changed meanwhile, begins again. */
  async #takeSome(few: number): Promise<Piece> {
    const { connection, transactions } = this.#desk;
    for (let attempt = 1; attempt <= mostAttempts; attempt++) {
      // Within the run, so that the next one does not begin before the last command of this one has its answer, though
      // whoever waits for it has given up.
      const piece = await connection.run((send) => transactions.run(() => this.#transaction(send, few)));
      if (piece !== "changed") return piece;
      await new Promise<void>((resolve) => this.clock.runAfter(pauseBefore(attempt), resolve));
    }
    return { read: [], ours: [] };
  }

  async #transaction(send: Send, few: number): Promise<Piece | "changed"> {
    const { schedule } = this.keys;
    // Asked for here: without a connection the clock does not know the server's time.
    const now = String(this.clock.now());
    // MULTI goes out with the read, and is answered before anything is removed: after one that was refused, a ZREM would run
    // at once.
    const [watch, read, multi] = await Promise.allSettled([
      send("WATCH", schedule),
      send("ZRANGEBYSCORE", schedule, "-inf", now, "WITHSCORES", "LIMIT", "0", String(few)),
      send("MULTI"),
    ]);
    let due: Taken[] = [];
    try {
      for (const answer of [watch, read, multi]) if (answer.status === "rejected") throw answer.reason;
      if (read.status === "fulfilled") due = takenFrom(read.value);
    } finally {
      // The connection is not to stay in a transaction, or to go on watching.
      if (due.length === 0) await send(multi.status === "fulfilled" ? "DISCARD" : "UNWATCH");
    }
    if (due.length === 0) return { read: [], ours: [] };
    const ours = firstOfEachId(due);
    const [removal, exec] = await Promise.allSettled([
      send("ZREM", schedule, ...ours.map(({ member }) => member.bytes)),
      send("EXEC"),
    ]);
    for (const answer of [removal, exec]) if (answer.status === "rejected") throw answer.reason;
    const removed = exec.status === "fulfilled" ? exec.value : undefined;
    if (removed === null) return "changed";
    if (Array.isArray(removed) && removed[0] === ours.length) return { read: due, ours };
    throw new PunctualError("outcome-unknown", `EXEC did not remove the ${ours.length} members that were read.`);
  }
}
