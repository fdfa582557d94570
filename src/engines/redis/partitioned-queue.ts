import type { Clock } from "../../clock.js";
import type {
  AuditReport,
  Burial,
  CallOptions,
  ClaimRequest,
  ClaimResult,
  Counts,
  DueTime,
  EngineQueue,
  ListQuery,
  NewMessage,
  Receipt,
  Release,
  Reschedule,
  Retry,
  Watcher,
} from "../../engine.js";
import { asPunctualError, PunctualError } from "../../errors.js";
import { listMarked } from "../../list-cursor.js";
import { failureAfter, sameFailure } from "../../partial-results.js";
import { partitionOf } from "./partition-of.js";
import { PartitionedClaims } from "./partitioned-claims.js";
import { listPartitions } from "./partitioned-list.js";

/** Problems that an audit tells at most. */
const mostProblems = 1_000;

/**
 * A queue that is split into partitions, each with keys in a slot of its own. An id always lies in the same one, so what is
 * said of an id is said of one partition; what is said of the queue is asked of all.
 */
export class PartitionedQueue implements EngineQueue {
  readonly partitions: readonly EngineQueue[];
  readonly #name: string;
  readonly #first: EngineQueue;
  readonly #claims: PartitionedClaims;

  /** `name` tells it from all other queues; `open` makes the queue of one partition, from 0. */
  constructor(name: string, count: number, open: (place: number) => EngineQueue) {
    this.#name = name;
    this.#first = open(0);
    this.partitions = [this.#first, ...Array.from({ length: count - 1 }, (_, place) => open(place + 1))];
    this.#claims = new PartitionedClaims(this.partitions);
  }

  get clock(): Clock {
    return this.#first.clock;
  }

  get closed(): boolean {
    return this.#first.closed;
  }

  schedule(messages: readonly NewMessage[], options?: CallOptions) {
    return this.#each(
      messages,
      ({ id }) => id,
      (queue, some) => queue.schedule(some, options),
    );
  }

  /** One after the other until one has something; a consumer claims from each by itself. */
  claim(request: ClaimRequest): Promise<ClaimResult> {
    return this.#claims.claim(request);
  }

  acknowledge(receipts: readonly Receipt[]) {
    return this.#each(receipts, idOf, (queue, some) => queue.acknowledge(some));
  }

  retry(retries: readonly Retry[]) {
    return this.#each(retries, idOf, (queue, some) => queue.retry(some));
  }

  release(releases: readonly Release[]) {
    return this.#each(releases, idOf, (queue, some) => queue.release(some));
  }

  bury(burials: readonly Burial[]) {
    return this.#each(burials, idOf, (queue, some) => queue.bury(some));
  }

  extend(receipts: readonly Receipt[], lease: number) {
    return this.#each(receipts, idOf, (queue, some) => queue.extend(some, lease));
  }

  cancel(ids: readonly string[]) {
    return this.#each(ids, itself, (queue, some) => queue.cancel(some));
  }

  reschedule(changes: readonly Reschedule[]) {
    return this.#each(changes, idOf, (queue, some) => queue.reschedule(some));
  }

  async get(ids: readonly string[]) {
    const found = await this.#each(ids, itself, async (queue, some) =>
      (await queue.get(some)).map((message) => ({ message })),
    );
    return found.map(({ message }) => message);
  }

  async counts(): Promise<Counts> {
    const all = await Promise.all(this.partitions.map((queue) => queue.counts()));
    const sum = (state: "scheduled" | "due" | "leased" | "dead") => all.reduce((total, one) => total + one[state], 0);
    return {
      scheduled: sum("scheduled"),
      due: sum("due"),
      leased: sum("leased"),
      dead: sum("dead"),
      paused: all.every(({ paused }) => paused),
    };
  }

  list(query: ListQuery) {
    // A cursor need not hold one of a partition: before its first message and behind its last one there is none.
    return listMarked(this.#name, query, (own) => listPartitions(this.partitions, own));
  }

  revive(ids: readonly string[] | "all", due: DueTime): Promise<number> {
    return ids === "all"
      ? this.#sum((queue) => queue.revive("all", due))
      : this.#sumOf(ids, (queue, some) => queue.revive(some, due));
  }

  remove(ids: readonly string[]): Promise<number> {
    return this.#sumOf(ids, (queue, some) => queue.remove(some));
  }

  purge(what: "waiting" | "dead"): Promise<number> {
    return this.#sum((queue) => queue.purge(what));
  }

  audit(): Promise<AuditReport> {
    return this.#report((queue) => queue.audit());
  }

  repair(): Promise<AuditReport> {
    return this.#report((queue) => queue.repair());
  }

  async pause(): Promise<void> {
    await Promise.all(this.partitions.map((queue) => queue.pause()));
  }

  async resume(): Promise<void> {
    await Promise.all(this.partitions.map((queue) => queue.resume()));
  }

  /** One watch on all partitions. That one of them need not be claimed from says nothing of the others. */
  async watch(consumer: string, watcher: Watcher): Promise<AsyncDisposable> {
    const out = new Set<EngineQueue>();
    let isClosed = false;
    const begun = await Promise.allSettled(
      this.partitions.map((queue) =>
        queue.watch(consumer, {
          wake: (at) => watcher.wake(at),
          postpone: () => {},
          interrupted(cause) {
            const isNews = cause.code !== "closed" || !isClosed;
            isClosed ||= cause.code === "closed";
            out.add(queue);
            if (isNews) watcher.interrupted(cause);
          },
          recovered() {
            if (out.delete(queue) && out.size === 0) watcher.recovered();
          },
        }),
      ),
    );
    const watches = begun.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    const failed = begun.find((one) => one.status === "rejected");
    if (failed !== undefined) {
      // Who asks again would be on the books twice.
      await Promise.all(watches.map((watch) => watch[Symbol.asyncDispose]()));
      throw asPunctualError(failed.reason);
    }
    return {
      async [Symbol.asyncDispose]() {
        await Promise.all(watches.map((watch) => watch[Symbol.asyncDispose]()));
      },
    };
  }

  /** Hands each item to the partition of its id, and puts the answers into the order of the items. */
  async #each<Item, Answer>(
    items: readonly Item[],
    idOfItem: (item: Item) => string,
    call: (queue: EngineQueue, items: readonly Item[]) => Promise<readonly Answer[]>,
  ): Promise<Answer[]> {
    const places = this.partitions.map((): number[] => []);
    for (const [place, item] of items.entries()) places[partitionOf(idOfItem(item), places.length)]?.push(place);
    const answers: (Answer | undefined)[] = Array.from({ length: items.length });
    let failure: unknown;
    await Promise.all(
      this.partitions.map(async (queue, partition) => {
        const own = places[partition] ?? [];
        if (own.length === 0) return;
        const some = own.flatMap((place) => items.slice(place, place + 1));
        let known: readonly (Answer | undefined)[];
        try {
          known = await call(queue, some);
        } catch (error) {
          // It is told of all that have no answer, whichever partition they are in.
          if (failure === undefined || leaves(error) > leaves(failure)) failure = error;
          // What the elements are is in the contract of the engine.
          known = error instanceof PunctualError ? ((error.details["results"] as Answer[] | undefined) ?? []) : [];
        }
        for (const [index, place] of own.entries()) answers[place] = known[index];
      }),
    );
    if (failure === undefined) return answers as Answer[];
    const known = asPunctualError(failure);
    throw sameFailure(known, { ...known.details, results: Array.from(answers) });
  }

  /** The sum of what all partitions answer. */
  async #sum(call: (queue: EngineQueue) => Promise<number>): Promise<number> {
    const done = await Promise.allSettled(this.partitions.map(call));
    return sumOrFailure(done);
  }

  async #sumOf(ids: readonly string[], call: (queue: EngineQueue, ids: readonly string[]) => Promise<number>) {
    const own = this.partitions.map((): string[] => []);
    for (const id of ids) own[partitionOf(id, own.length)]?.push(id);
    const asked = this.partitions.flatMap((queue, place) => {
      const some = own[place] ?? [];
      return some.length === 0 ? [] : [call(queue, some)];
    });
    return sumOrFailure(await Promise.allSettled(asked));
  }

  async #report(call: (queue: EngineQueue) => Promise<AuditReport>): Promise<AuditReport> {
    const reports = await Promise.all(this.partitions.map(call));
    const problems = reports.flatMap((report) => report.problems);
    return {
      ok: reports.every(({ ok }) => ok),
      problems: problems.slice(0, mostProblems),
      checked: reports.reduce((sum, { checked }) => sum + checked, 0),
    };
  }
}

/** How much a failure leaves open: `not-confirmed` says of all messages that they are stored, others that nothing was changed. */
function leaves(error: unknown): number {
  const code = error instanceof PunctualError ? error.code : undefined;
  if (code === "outcome-unknown") return 2;
  return code === "not-confirmed" ? 0 : 1;
}

const idOf = ({ id }: { readonly id: string }): string => id;
const itself = (id: string): string => id;

/** The sum; when one failed, its error with what the others did in `details.done`. */
function sumOrFailure(done: readonly PromiseSettledResult<number>[]): number {
  let sum = 0;
  let failure: unknown;
  for (const one of done) {
    if (one.status === "fulfilled") sum += one.value;
    else {
      failure ??= one.reason;
      const counted: unknown = one.reason instanceof PunctualError ? one.reason.details["done"] : 0;
      if (typeof counted === "number") sum += counted;
    }
  }
  if (failure === undefined) return sum;
  throw failureAfter(asPunctualError(failure), sum);
}
