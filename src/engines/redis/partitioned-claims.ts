import type { CancelTimer } from "../../clock.js";
import type { ClaimRequest, ClaimResult, EngineQueue } from "../../engine.js";
import { PunctualError } from "../../errors.js";

/** How many consumers are remembered. */
const mostConsumers = 1_000;
/** How long a claim that found nothing elsewhere waits for partitions that were out of reach, ms. One that is back takes less. */
const longestWait = 500;

/** What is remembered of a consumer from one claim to the next. */
interface Books {
  token: string;
  /** Where its claim begins: in another partition each time, but in the same one when it is repeated. */
  place: number;
  /** Claims that failed, by partition: nobody knows what they took there. */
  readonly unanswered: Map<number, Unanswered>;
  /** What partitions told beside messages, in claims that failed as a whole. */
  untold: Pick<ClaimResult, "buried" | "missing">[];
}

interface Unanswered {
  readonly request: ClaimRequest;
  /** Whether it was asked for again, without an answer. */
  isRepeated: boolean;
  /** How it failed last. */
  failure: unknown;
  /** Asks in the background whether the partition answers again; never fails. */
  probe: Promise<void> | undefined;
}

/** What a claim has come across so far. */
interface Round {
  readonly empty: ClaimResult[];
  failure: PunctualError | undefined;
}

/**
 * Claims from one partition after the other until one has something.
 *
 * A partition that fails is passed over as long as another has something. What it may have taken meanwhile is under leases of a
 * token that its consumer uses no more, so the next claim of that consumer begins there, and hands it back: it is due again, and
 * has used no attempt. When the consumer repeats the claim, it gets it. One that fails there again waits for it no more: a call
 * to a partition that is out of reach takes as long as a call may, and would hold up what lies in the others.
 */
export class PartitionedClaims {
  readonly #partitions: readonly EngineQueue[];
  readonly #books = new Map<string, Books>();
  /** Partitions that failed a consumer twice, and how they did last: one that claims for the first time need not find out. */
  readonly #out = new Map<number, unknown>();

  constructor(partitions: readonly EngineQueue[]) {
    this.#partitions = partitions;
  }

  async claim(request: ClaimRequest): Promise<ClaimResult> {
    const books = this.#booksOf(request);
    const round: Round = { empty: [], failure: undefined };
    const out: { readonly place: number; readonly probe: Promise<void> }[] = [];
    for (const place of this.#order(books)) {
      const before = this.#unansweredAt(place, request, books);
      if (before?.isRepeated === true) out.push({ place, probe: this.#probe(place, before, books) });
      else {
        const found = await this.#tryFrom(place, request, books, round);
        if (found !== undefined) return found;
      }
    }
    const found = out.length === 0 ? undefined : await this.#tryThoseBack(out, request, books, round);
    if (found !== undefined) return found;
    if (round.failure !== undefined) throw round.failure;
    const last = round.empty.at(-1);
    if (last === undefined) throw new PunctualError("internal", "A queue without partitions was claimed from.");
    return { ...last, ...told(books), nextAt: Math.min(...round.empty.map(({ nextAt }) => nextAt)) };
  }

  /** What was not answered at a partition; of one that is out of reach the claim itself, as though it had failed there. */
  #unansweredAt(place: number, request: ClaimRequest, { unanswered }: Books): Unanswered | undefined {
    const known = unanswered.get(place);
    if (!this.#out.has(place)) return known;
    const before = known ?? { request, isRepeated: true, failure: this.#out.get(place), probe: undefined };
    before.isRepeated = true;
    unanswered.set(place, before);
    return before;
  }

  /** Claims from one partition; `undefined` when it has nothing, or fails. */
  async #tryFrom(place: number, request: ClaimRequest, books: Books, round: Round): Promise<ClaimResult | undefined> {
    try {
      const result = await this.#claimFrom(place, request, books);
      books.untold.push(result);
      // Of those that were not asked nothing is known.
      if (result.messages.length > 0) return { ...result, ...told(books), nextAt: result.now };
      round.empty.push(result);
    } catch (error) {
      round.failure = asFailure(error);
    }
    return undefined;
  }

  /** Claims from those that were out of reach and are back; nothing holds this up, since the others have nothing. */
  async #tryThoseBack(
    out: readonly { readonly place: number; readonly probe: Promise<void> }[],
    request: ClaimRequest,
    books: Books,
    round: Round,
  ): Promise<ClaimResult | undefined> {
    let cancelTimer: CancelTimer = () => {};
    const tooLong = new Promise<void>((resolve) => {
      cancelTimer = this.#partitions[0]?.clock.runAfter(longestWait, resolve) ?? cancelTimer;
    });
    try {
      for (const { place, probe } of out) {
        await Promise.race([probe, tooLong]);
        const before = books.unanswered.get(place);
        if (before?.isRepeated === true) round.failure = asFailure(before.failure);
        else {
          const found = await this.#tryFrom(place, request, books, round);
          if (found !== undefined) return found;
        }
      }
    } finally {
      cancelTimer();
    }
    return undefined;
  }

  /** Has a partition asked in the background, once at a time. */
  #probe(place: number, before: Unanswered, books: Books): Promise<void> {
    before.probe ??= this.#handBackFrom(place, before, books).then(
      () => void (before.probe = undefined),
      (failure: unknown) => {
        before.failure = failure;
        before.probe = undefined;
        this.#out.set(place, failure);
      },
    );
    return before.probe;
  }

  /** Asks a partition what a claim took there, and hands it back unless its consumer still asks for it. */
  async #handBackFrom(place: number, before: Unanswered, books: Books): Promise<void> {
    const queue = this.#at(place);
    const taken = await queue.claim({ ...before.request, limit: 0 });
    this.#out.delete(place);
    books.untold.push(taken);
    if (books.token === before.request.token) before.isRepeated = false;
    else {
      await handBack(queue, before.request, taken);
      books.unanswered.delete(place);
    }
  }

  async #claimFrom(place: number, request: ClaimRequest, books: Books): Promise<ClaimResult> {
    const queue = this.#at(place);
    const { unanswered } = books;
    const before = unanswered.get(place);
    if (before !== undefined) before.isRepeated = true;
    try {
      if (before !== undefined && before.request.token !== request.token) {
        // One that never ran takes nothing now, but reclaims, which may bury.
        const taken = await queue.claim({ ...before.request, limit: 0 });
        books.untold.push(taken);
        await handBack(queue, before.request, taken);
        unanswered.delete(place);
      }
      const result = await queue.claim(request);
      this.#out.delete(place);
      unanswered.delete(place);
      return result;
    } catch (failure) {
      const known = unanswered.get(place);
      if (known === undefined) unanswered.set(place, { request, isRepeated: false, failure, probe: undefined });
      else {
        known.failure = failure;
        this.#out.set(place, failure);
      }
      throw failure;
    }
  }

  #at(place: number): EngineQueue {
    const queue = this.#partitions[place];
    if (queue === undefined) throw new PunctualError("internal", `There is no partition ${place}.`);
    return queue;
  }

  /** From its place on; first where a claim has failed once. */
  #order({ place, unanswered }: Books): number[] {
    const count = this.#partitions.length;
    const places = this.#partitions.map((_, step) => (place + step) % count);
    const isFirst = (one: number) => unanswered.get(one)?.isRepeated === false;
    return [...places.filter(isFirst), ...places.filter((one) => !isFirst(one))];
  }

  #booksOf({ consumer, token }: ClaimRequest): Books {
    const books = this.#books.get(consumer);
    if (books === undefined) {
      const fresh = { token, place: 0, unanswered: new Map<number, Unanswered>(), untold: [] };
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

/** Partitions fail with nothing else; another error is a fault of this library. */
function asFailure(error: unknown): PunctualError {
  if (error instanceof PunctualError) return error;
  throw error;
}

/** Releases what a claim took whose reply was lost. */
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
