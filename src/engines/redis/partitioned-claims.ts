import type { ClaimRequest, ClaimResult, EngineQueue } from "../../engine.js";
import { PunctualError } from "../../errors.js";

/** How many consumers are remembered. */
const mostConsumers = 1_000;

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
}

/**
 * Claims from one partition after the other until one has something.
 *
 * A partition that fails is passed over as long as another has something. What it may have taken meanwhile is under leases of a
 * token that its consumer uses no more, so the next claim of that consumer begins there, and hands it back: it is due again, and
 * has used no attempt. When the consumer repeats the claim, it gets it.
 */
export class PartitionedClaims {
  readonly #partitions: readonly EngineQueue[];
  readonly #books = new Map<string, Books>();

  constructor(partitions: readonly EngineQueue[]) {
    this.#partitions = partitions;
  }

  async claim(request: ClaimRequest): Promise<ClaimResult> {
    const books = this.#booksOf(request);
    const empty: ClaimResult[] = [];
    let failure: PunctualError | undefined;
    for (const place of this.#order(books)) {
      try {
        const result = await this.#claimFrom(place, request, books);
        books.untold.push(result);
        // Of those that were not asked nothing is known.
        if (result.messages.length > 0) return { ...result, ...told(books), nextAt: result.now };
        empty.push(result);
      } catch (error) {
        if (!(error instanceof PunctualError)) throw error;
        failure = error;
      }
    }
    if (failure !== undefined) throw failure;
    const last = empty.at(-1);
    if (last === undefined) throw new PunctualError("internal", "A queue without partitions was claimed from.");
    return { ...last, ...told(books), nextAt: Math.min(...empty.map(({ nextAt }) => nextAt)) };
  }

  async #claimFrom(place: number, request: ClaimRequest, books: Books): Promise<ClaimResult> {
    const queue = this.#partitions[place];
    if (queue === undefined) throw new PunctualError("internal", `There is no partition ${place}.`);
    const { unanswered } = books;
    const before = unanswered.get(place);
    if (before !== undefined) before.isRepeated = true;
    if (before !== undefined && before.request.token !== request.token) {
      // One that never ran takes nothing now, but reclaims, which may bury.
      const taken = await queue.claim({ ...before.request, limit: 0 });
      books.untold.push(taken);
      await handBack(queue, before.request, taken);
      unanswered.delete(place);
    }
    try {
      const result = await queue.claim(request);
      unanswered.delete(place);
      return result;
    } catch (error) {
      if (!unanswered.has(place)) unanswered.set(place, { request, isRepeated: false });
      throw error;
    }
  }

  /** From its place on; first where a claim has failed once. One that fails again waits for its turn, and delays no others. */
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
