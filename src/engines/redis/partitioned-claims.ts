import type { ClaimRequest, ClaimResult, EngineQueue } from "../../engine.js";
import { asPunctualError, PunctualError } from "../../errors.js";
import { ClaimRound, patience } from "./claim-round.js";

/** How many consumers are remembered. */
const mostConsumers = 1_000;
/** When a claim that not all partitions have answered is to be made again at the latest, ms. */
const askAgainAfter = 500;

/** What one consumer has with one partition. */
interface Line {
  /** The claim that was not answered: nobody knows what it took. */
  unanswered: ClaimRequest | undefined;
  /** The call under way; never fails. One at a time, since a claim that a later one overtakes is refused. */
  call: Promise<void> | undefined;
}

/** What is remembered of a consumer from one claim to the next. */
interface Books {
  token: string;
  /** Where its claim begins: in another partition each time, but in the same one when it is repeated. */
  place: number;
  /** The partitions that have not answered all. */
  readonly lines: Map<number, Line>;
  /** What partitions told beside messages, until it is told. */
  untold: Pick<ClaimResult, "buried" | "missing">[];
}

/**
 * Claims from one partition after the other until one has something.
 *
 * Calls to partitions go on in the background, and a claim takes what has arrived. When one partition has been silent for 200 ms,
 * all that are left are asked at once, by claims that take nothing, and claimed from in the order in which they answer: any number
 * of silent ones costs the time of one. When some have answered, the others are waited for until 200 ms after they were asked, or
 * after the first answer if that came later, whatever is answered meanwhile. A claim that none has answered fails when all calls
 * have.
 *
 * A partition that was silent or failed is noted for all consumers. Their claims begin with the others, and have it asked
 * meanwhile, once at a time. What a claim took in a partition and brought too late, or nobody heard of, is under leases of a token
 * that its consumer uses no more. It is handed back as soon as the partition answers: it is due again, and has used no attempt.
 * Only what a claim took that failed as a whole is kept for the claim that is made again with its token.
 */
export class PartitionedClaims {
  readonly #partitions: readonly EngineQueue[];
  readonly #books = new Map<string, Books>();
  /** Partitions that were silent or failed when they were asked last, and how they failed, if that is known. */
  readonly #out = new Map<number, PunctualError | undefined>();

  constructor(partitions: readonly EngineQueue[]) {
    this.#partitions = partitions;
  }

  async claim(request: ClaimRequest): Promise<ClaimResult> {
    const books = this.#booksOf(request);
    const round = new ClaimRound(request, this.#at(0).clock);
    for (const step of this.#partitions.keys()) {
      const place = (books.place + step) % this.#partitions.length;
      if (this.#out.has(place) || books.lines.has(place)) this.#ask(place, books, round);
      else round.ready.push(place);
    }
    while (round.found === undefined) {
      const place = round.ready.shift();
      if (place !== undefined) await this.#claimPatiently(place, books, round);
      else if (round.waiting.size === 0 || !(await round.hears(round.waitsUntil))) break;
    }
    return this.#conclude(books, round);
  }

  /** Claims from one partition. When it is silent, all that are left are asked at once. */
  async #claimPatiently(place: number, books: Books, round: ClaimRound): Promise<void> {
    const { clock } = this.#at(place);
    const until = clock.elapsed() + patience;
    this.#run(place, books, round, (line) => this.#claimFrom(place, line, books, round));
    while (round.waiting.has(place) && round.found === undefined) {
      if (await round.hears(until)) continue;
      // One that failed before is known for that, which says more than its silence.
      if (!this.#out.has(place)) this.#out.set(place, undefined);
      round.allAsked();
      for (const other of round.ready.splice(0)) this.#ask(other, books, round);
      return;
    }
  }

  /** What the claim comes to. */
  #conclude(books: Books, round: ClaimRound): ClaimResult {
    const { request, found, empty, failure } = round;
    round.isOver = true;
    const last = found ?? empty.at(-1);
    if (last === undefined) throw failure ?? new PunctualError("internal", "No partition was claimed from.");
    for (const [place, { unanswered, call }] of books.lines) {
      if (unanswered !== undefined && call === undefined) this.#ask(place, books, round);
    }
    // Of those that were not asked nothing is known.
    if (found !== undefined) return { ...found, ...told(books), nextAt: found.now };
    const isWhole = empty.length === this.#partitions.length;
    // Who does not claim again would believe that nothing is due.
    if (!isWhole && request.returns === false) throw silenceOf(failure);
    const nextAt = Math.min(...empty.map((result) => result.nextAt), isWhole ? Infinity : last.now + askAgainAfter);
    return { ...last, ...told(books), nextAt };
  }

  /** Finds out whether a partition answers, and then has it claimed from if the claim still goes on. */
  #ask(place: number, books: Books, round: ClaimRound): void {
    const call = books.lines.get(place)?.call;
    if (call === undefined) this.#run(place, books, round, (line) => this.#handBackFrom(place, line, books, round));
    else {
      round.waiting.add(place);
      void call.then(() => {
        if (this.#out.has(place)) round.failure ??= this.#out.get(place);
        else round.answered(place);
        round.ended(place);
      });
    }
  }

  /** A call to a partition, on the books until it has ended, and longer if it leaves something unanswered. */
  #run(place: number, books: Books, round: ClaimRound, call: (line: Line) => Promise<void>): void {
    const line = books.lines.get(place) ?? { unanswered: undefined, call: undefined };
    books.lines.set(place, line);
    round.waiting.add(place);
    const ended = () => {
      line.call = undefined;
      if (line.unanswered === undefined) books.lines.delete(place);
      round.ended(place);
    };
    line.call = call(line).then(
      () => {
        this.#out.delete(place);
        ended();
      },
      (error: unknown) => {
        round.failure = asPunctualError(error);
        this.#out.set(place, round.failure);
        ended();
      },
    );
  }

  async #claimFrom(place: number, line: Line, books: Books, round: ClaimRound): Promise<void> {
    const { request } = round;
    const queue = this.#at(place);
    line.unanswered = request;
    const result = await queue.claim(request);
    books.untold.push(result);
    round.heard();
    if (result.messages.length === 0) round.empty.push(result);
    else if (round.isOver || round.found !== undefined) await handBack(queue, request, result);
    else round.found = result;
    line.unanswered = undefined;
  }

  /** Asks what a claim took that was not answered, and hands it back unless this claim is the same one, made again. */
  async #handBackFrom(place: number, line: Line, books: Books, round: ClaimRound): Promise<void> {
    const queue = this.#at(place);
    const before = line.unanswered ?? round.request;
    // One that never ran takes nothing now, but reclaims, which may bury.
    const taken = await queue.claim({ ...before, limit: 0 });
    books.untold.push(taken);
    if (round.isOver || before.token !== round.request.token) {
      await handBack(queue, before, taken);
      line.unanswered = undefined;
    }
    round.answered(place);
  }

  #at(place: number): EngineQueue {
    const queue = this.#partitions[place];
    if (queue === undefined) throw new PunctualError("internal", `There is no partition ${place}.`);
    return queue;
  }

  #booksOf({ consumer, token }: ClaimRequest): Books {
    const books = this.#books.get(consumer);
    if (books === undefined) {
      const fresh = { token, place: 0, lines: new Map<number, Line>(), untold: [] };
      this.#books.set(consumer, fresh);
      if (this.#books.size > mostConsumers) this.#books.delete(this.#books.keys().next().value ?? "");
      return fresh;
    }
    if (books.token !== token) {
      books.token = token;
      books.place = (books.place + 1) % this.#partitions.length;
    }
    return books;
  }
}

/** Why a claim fails though some have answered. Nothing is left uncertain: what the others took, or take late, is handed back. */
function silenceOf(failure: PunctualError | undefined): PunctualError {
  if (failure !== undefined && failure.code !== "outcome-unknown") return failure;
  const message =
    "Nothing is due in the partitions that answer, and others do not answer: see that all nodes of the Cluster can be reached, and receive again.";
  return new PunctualError("not-sent", message, { cause: failure });
}

/** Releases what a claim took that nobody waits for. */
async function handBack(queue: EngineQueue, { token }: ClaimRequest, taken: ClaimResult): Promise<void> {
  const { messages, leaseUntil } = taken;
  if (messages.length > 0) await queue.release(messages.map(({ id }) => ({ id, token, leaseUntil })));
}

/** What was told beside messages, once. */
function told(books: Books): Pick<ClaimResult, "buried" | "missing"> {
  const results = books.untold;
  books.untold = [];
  return { buried: results.flatMap(({ buried }) => buried), missing: results.flatMap(({ missing }) => missing) };
}
