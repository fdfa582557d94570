import type { ClaimRequest, EngineQueue, FailureRecord, ListPage, StoredMessage } from "../../src/engine.js";
import { memoryEngine } from "../../src/engines/memory/engine.js";
import { allowedDifferences, mayKeepTooOld, mayReclaim, timeOfLease } from "./allowed-differences.js";
import {
  consumers,
  type Due,
  ids,
  type LeaseChoice,
  opened,
  type Operation,
  type Sequence,
  type Setting,
} from "./operations.js";
import { type Answers, compare, isAnswer, onBoth, type Pair, type Side } from "./side-by-side.js";
import type { SteppedClock } from "./stepped-clock.js";
import type { TimedRedis } from "./timed-redis.js";

/** When every sequence starts, Unix ms: round, so that times in a report can be read. */
const start = 1_800_000_000_000;

/** Deadlines later than this are never waited for, ms. */
const horizon = 200_000;

/** Reclaims, lets dead letters fall out that are too old, and does nothing else. */
const claimOfNothing = { consumer: "nobody", token: "none", limit: 0, lease: 1_000, attempts: 1, returns: false };

/** What the two engines run on. */
export interface Grounds {
  readonly clock: SteppedClock;
  readonly redis: TimedRedis;
}

interface Given {
  readonly id: string;
  readonly token: string;
  readonly leaseUntil: number;
}

type Op<Name extends Operation["op"]> = Extract<Operation, { op: Name }>;

const errors: Record<"none" | "short" | "with stack", FailureRecord | undefined> = {
  none: undefined,
  short: { name: "Error", message: "é" },
  "with stack": { name: "", message: "m", stack: "at x\nat y" },
};

/** Runs a sequence on both engines, from nothing, and fails with a `Difference` at the first answer that is not the same. */
export async function runSequence({ setting, operations }: Sequence, { clock, redis }: Grounds): Promise<void> {
  clock.time = start;
  await redis.flush();
  const run = new Run(setting, clock, redis);
  for (const [index, operation] of operations.entries()) {
    await run.step(`operation ${index + 1}, ${JSON.stringify(operation)}, at ${clock.time - start}`, operation);
  }
  await run.end();
}

class Run {
  readonly #clock: SteppedClock;
  readonly #setting: Setting;
  readonly #pairs: readonly Pair[];
  readonly #dropped: Record<Side, { ids: string[]; total: number }> = {
    memory: { ids: [], total: 0 },
    redis: { ids: [], total: 0 },
  };
  /** Every lease that was given, the youngest first. */
  readonly #given: Given[] = [];
  /** The last claim of each consumer. */
  readonly #claims = new Map<string, ClaimRequest>();
  readonly #deadlines = new Set<number>();
  #reading: { readonly query: Op<"list">; readonly cursors: Answers<string> } | undefined;
  #tokens = 0;

  constructor(setting: Setting, clock: SteppedClock, redis: TimedRedis) {
    this.#clock = clock;
    this.#setting = setting;
    const max = setting.maxDead ?? undefined;
    const maxAge = setting.maxDeadAge ?? undefined;
    const memory = memoryEngine({ clock, deadLetters: { max, maxAge } });
    const options = (side: Side, place: number) => ({
      rememberFor: setting.rememberFor[place],
      onDropped: (dropped: { ids: readonly string[]; total: number }) => {
        this.#dropped[side].ids.push(...dropped.ids);
        this.#dropped[side].total = dropped.total;
      },
    });
    this.#pairs = Array.from({ length: opened }, (_, place) => ({
      memory: memory.open("q", options("memory", place)),
      redis: redis.open({ max, maxAge }, options("redis", place)),
    }));
  }

  /** One operation, and a look at all that can be seen after it. */
  async step(what: string, operation: Operation): Promise<void> {
    await this.#perform(what, operation);
    if (mayReclaim(operation) || mayKeepTooOld(this.#setting.maxDeadAge)) {
      await onBoth(this.#pair(0), (queue) => queue.claim(claimOfNothing));
    }
    // Whatever reads and yet changes something, the look after the next operation finds.
    if (!["list", "next page", "audit"].includes(operation.op)) await this.#look(what);
  }

  /** Reads everything in every way, and then delivers what is left. */
  async end(): Promise<void> {
    for (const state of ["scheduled", "due", "leased", "dead"] as const) {
      await this.step("list at the end", { op: "list", state, limit: 1, from: null, to: null });
      while (this.#reading) await this.step(`next page of ${state} at the end`, { op: "next page", limit: 1 });
    }
    await this.step("audit at the end", { op: "audit" });
    await this.step("resume at the end", { op: "resume" });
    const claiming = { limit: 4, lease: 1_000, attempts: 3, returns: true };
    for (const by of [0, 1_000, horizon]) {
      this.#clock.time += by;
      await this.step(`claim at the end, after ${by}`, { op: "claim", consumer: "last", ...claiming });
    }
    await this.step("audit after the end", { op: "audit" });
  }

  #pair(by: number): Pair {
    const pair = this.#pairs[by];
    if (!pair) throw new RangeError(`Nobody opened the queue as number ${by}.`);
    return pair;
  }

  /** Makes a call on both engines, compares the answers and gives them. */
  async #same<Answer>(
    what: string,
    call: (queue: EngineQueue, side: Side) => Promise<Answer>,
    { by = 0, seen = (answer) => answer }: { by?: number; seen?: (answer: Answer) => unknown } = {},
  ): Promise<Answers<Answer> | undefined> {
    const { memory, redis } = await onBoth(this.#pair(by), call);
    const view = (answer: Answer | { rejected: string }) => (isAnswer(answer) ? seen(answer) : answer);
    compare(what, { memory: view(memory), redis: view(redis) });
    return isAnswer(memory) && isAnswer(redis) ? { memory, redis } : undefined;
  }

  async #perform(what: string, operation: Operation): Promise<void> {
    const chosen = (leases: readonly LeaseChoice[]) => leases.map((lease) => this.#receipt(lease));
    switch (operation.op) {
      case "pass":
        this.#clock.time += operation.by;
        return;
      case "pass to deadline":
        this.#passTo(operation);
        return;
      case "schedule":
        await this.#schedule(what, operation);
        return;
      case "claim":
        await this.#claim(what, { ...claimOf(operation), token: `t${++this.#tokens}` });
        return;
      case "claim again":
        await this.#claimAgain(what, operation);
        return;
      case "acknowledge":
        await this.#same(what, (queue) => queue.acknowledge(chosen(operation.leases)));
        this.#noteGone();
        return;
      case "retry": {
        const { delay, leases, error } = operation;
        const retries = chosen(leases).map((receipt) => ({ ...receipt, delay, error: errors[error] }));
        await this.#same(what, (queue) => queue.retry(retries));
        return;
      }
      case "release": {
        const delay = operation.delay ?? undefined;
        await this.#same(what, (queue) => queue.release(chosen(operation.leases).map((one) => ({ ...one, delay }))));
        return;
      }
      case "bury": {
        const { reason, leases, error } = operation;
        const burials = chosen(leases).map((receipt) => ({ ...receipt, reason, error: errors[error] }));
        await this.#same(what, (queue) => queue.bury(burials));
        return;
      }
      case "extend":
        this.#clock.time = timeOfLease(this.#clock.time);
        this.#noteExtended(chosen(operation.leases));
        await this.#same(what, (queue) => queue.extend(chosen(operation.leases), operation.lease));
        return;
      case "cancel":
        await this.#same(what, (queue) => queue.cancel(operation.ids));
        this.#noteGone();
        return;
      case "reschedule": {
        const changes = operation.ids.map((id) => ({ id, due: dueOf(operation.due) }));
        await this.#same(what, (queue) => queue.reschedule(changes), {
          seen: allowedDifferences.reschedule(this.#setting.maxDead),
        });
        return;
      }
      case "list":
        this.#reading = undefined;
        await this.#list(what, operation, operation.limit, undefined);
        return;
      case "next page":
        if (this.#reading) await this.#list(what, this.#reading.query, operation.limit, this.#reading.cursors);
        return;
      case "revive":
        await this.#same(what, (queue) => queue.revive(operation.ids, dueOf(operation.due)));
        return;
      case "remove":
        await this.#same(what, (queue) => queue.remove(operation.ids));
        this.#noteGone();
        return;
      case "purge":
        await this.#same(what, (queue) => queue.purge(operation.what));
        this.#noteGone();
        return;
      case "pause":
      case "resume":
        await this.#same(what, (queue) => (operation.op === "pause" ? queue.pause() : queue.resume()));
        return;
      case "audit":
      case "repair":
        await this.#same(what, (queue) => (operation.op === "audit" ? queue.audit() : queue.repair()), {
          seen: allowedDifferences.audit,
        });
        return;
    }
  }

  /** To just before, at or after one of the next deadlines, if that is not in the past. */
  #passTo({ which, offset }: Op<"pass to deadline">): void {
    const { time } = this.#clock;
    const next = [...this.#deadlines].filter((at) => at > time && at < time + horizon).toSorted((a, b) => a - b);
    const deadline = next[which % Math.max(next.length, 1)];
    if (deadline !== undefined) this.#clock.time = Math.max(time, deadline + offset);
  }

  async #schedule(what: string, { by, messages }: Op<"schedule">): Promise<void> {
    const handed = messages.map(({ id, payload, due, onDuplicate, attempts, expiresIn, headers }) => ({
      id,
      payload: Buffer.from(payload),
      due: dueOf(due),
      onDuplicate,
      attempts: attempts ?? undefined,
      expiresIn: expiresIn ?? undefined,
      headers: headers ?? undefined,
    }));
    const answers = await this.#same(what, (queue) => queue.schedule(handed), {
      by,
      seen: allowedDifferences.schedule(this.#setting.rememberFor),
    });
    for (const [index, { dueAt }] of (answers?.memory ?? []).entries()) {
      this.#deadlines.add(Math.ceil(dueAt + (messages[index]?.expiresIn ?? 0)));
    }
  }

  async #claim(what: string, request: ClaimRequest, seen = allowedDifferences.claim): Promise<void> {
    this.#clock.time = timeOfLease(this.#clock.time);
    this.#claims.set(request.consumer, request);
    const by = Math.max((consumers as readonly string[]).indexOf(request.consumer), 0) % opened;
    const claimed = await this.#same(what, (queue) => queue.claim(request), { by, seen });
    const { leaseUntil, messages } = claimed?.memory ?? { leaseUntil: 0, messages: [] };
    for (const { id } of messages) this.#given.unshift({ id, token: request.token, leaseUntil });
  }

  /** A claim whose reply was lost is made again as it was; only the last one of a consumer can be. */
  async #claimAgain(what: string, { consumer }: Op<"claim again">): Promise<void> {
    const last = this.#claims.get(consumer);
    if (last) await this.#claim(what, last, allowedDifferences.claimAgain);
  }

  async #list(what: string, query: Op<"list">, limit: number, cursors: Answers<string> | undefined): Promise<void> {
    const { state } = query;
    const from = query.from === null ? undefined : start + query.from;
    const to = query.to === null ? undefined : start + query.to;
    const read = (queue: EngineQueue, side: Side): Promise<ListPage> =>
      queue.list({ state, from, to, limit, cursor: cursors?.[side] });
    const pages = await this.#same(what, read, { seen: allowedDifferences.list });
    const memory = pages?.memory.cursor;
    let redis = pages?.redis.cursor;
    if (memory === undefined && redis !== undefined) {
      const rest = await this.#pair(0).redis.list({ state, from, to, limit, cursor: redis });
      compare(`what is left after ${what}`, { memory: { messages: [] }, redis: rest });
      redis = undefined;
    }
    compare(`whether there are more after ${what}`, { memory: memory === undefined, redis: redis === undefined });
    this.#reading = memory !== undefined && redis !== undefined ? { query, cursors: { memory, redis } } : undefined;
  }

  /** What everybody can see: each message, the counts, and what fell out of the bounds. */
  async #look(what: string): Promise<void> {
    const [messages] = await Promise.all([
      this.#same(`get after ${what}`, (queue) => queue.get(ids)),
      this.#same(`counts after ${what}`, (queue) => queue.counts()),
    ]);
    for (const message of messages?.memory ?? []) if (message) this.#note(message);
    const dropped = (side: Side) => ({
      ids: this.#dropped[side].ids.splice(0).toSorted(),
      total: this.#dropped[side].total,
    });
    compare(`dropped after ${what}`, { memory: dropped("memory"), redis: dropped("redis") });
  }

  #note({ dueAt, leaseUntil, buried }: StoredMessage): void {
    this.#deadlines.add(dueAt);
    if (leaseUntil !== undefined) this.#deadlines.add(leaseUntil);
    if (buried && this.#setting.maxDeadAge !== null) this.#deadlines.add(buried.at + this.#setting.maxDeadAge);
  }

  /** Until when ids that went just now are remembered, perhaps. */
  #noteGone(): void {
    for (const duration of this.#setting.rememberFor) {
      if (duration > 0) this.#deadlines.add(Math.floor(this.#clock.time) + Math.ceil(duration));
    }
  }

  /**
   * Whoever extends a lease has had the reply of its claim, and does not make it again. Redis would not find what was
   * extended: it looks for the leases of a claim by their end.
   */
  #noteExtended(receipts: readonly Given[]): void {
    const tokens = new Set(receipts.map(({ token }) => token));
    for (const [consumer, { token }] of this.#claims) if (tokens.has(token)) this.#claims.delete(consumer);
  }

  #receipt({ lease, tokenOf }: LeaseChoice): Given {
    const given = this.#given[lease % Math.max(this.#given.length, 1)];
    const other = tokenOf === null ? undefined : this.#given[tokenOf % Math.max(this.#given.length, 1)];
    if (!given) return { id: ids[lease % ids.length] ?? "a", token: "never given", leaseUntil: start };
    return other ? { ...given, token: other.token } : given;
  }
}

function claimOf({ consumer, limit, lease, attempts, returns }: Op<"claim">): Omit<ClaimRequest, "token"> {
  return { consumer, limit, lease, attempts, returns };
}

function dueOf(due: Due): Due {
  return "at" in due && due.at < horizon ? { at: start + due.at } : due;
}
