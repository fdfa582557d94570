import assert from "node:assert/strict";
import type {
  ClaimRequest,
  ClaimResult,
  EngineQueue,
  ListQuery,
  NewMessage,
  Receipt,
  ScheduleResult,
  StoredMessage,
} from "../../engine.js";
import type { ConformanceHarness } from "./conformance-case.js";

export const second = 1_000;
export const minute = 60 * second;
export const hour = 60 * minute;

/** A claim, with what is needed to settle what it took. */
export interface Taken extends ClaimResult {
  readonly token: string;
  readonly ids: readonly string[];
  readonly receipts: readonly Receipt[];
}

/** Something that is closed when its case ends. */
export interface Closable {
  close(options?: { timeout?: number }): Promise<void>;
}

/** A queue of its own on which one case plays, and the short forms in which cases are written. */
export class Stage {
  readonly harness: ConformanceHarness;
  readonly name: string;
  readonly queue: EngineQueue;
  /** The same queue as another process has it. */
  readonly otherQueue: EngineQueue;
  readonly #closables: Closable[] = [];
  #claims = 0;

  constructor(harness: ConformanceHarness) {
    this.harness = harness;
    this.name = harness.queueName();
    this.queue = harness.engine.open(this.name);
    this.otherQueue = harness.other.open(this.name);
  }

  /** Schedules one message, due now unless `options` say otherwise; its payload is `payload of <id>`. */
  async put(id: string, options: Partial<Omit<NewMessage, "id">> = {}): Promise<ScheduleResult> {
    const [result] = await this.queue.schedule([newMessage(id, options)]);
    assert.ok(result !== undefined, "schedule answered one message with nothing");
    return result;
  }

  /** Claims as consumer `consumer-1` with a lease of one minute and a limit of 100, unless `options` say otherwise. */
  async take(options: Partial<ClaimRequest> & { from?: EngineQueue } = {}): Promise<Taken> {
    const { from = this.queue, ...request } = options;
    const consumer = from === this.queue ? "consumer-1" : "consumer-2";
    const token = request.token ?? `${this.name}/${++this.#claims}`;
    const claim = await from.claim({ limit: 100, lease: minute, consumer, attempts: 5, ...request, token });
    for (const message of claim.messages) {
      assert.ok(message.dueAt <= claim.now, `${message.id} was claimed ${message.dueAt - claim.now} ms early`);
    }
    const ids = claim.messages.map((message) => message.id);
    return { ...claim, token, ids, receipts: ids.map((id) => ({ id, token, leaseUntil: claim.leaseUntil })) };
  }

  /** Claims until `count` messages are taken or nothing more is due; a claim may give less than there is. */
  async takeAll(count: number, options: Partial<ClaimRequest> & { from?: EngineQueue } = {}): Promise<Taken[]> {
    const claims: Taken[] = [];
    for (let taken = 0; taken < count;) {
      const claim = await this.take({ ...options, limit: Math.min(options.limit ?? 1_000, count - taken) });
      claims.push(claim);
      taken += claim.ids.length;
      if (claim.ids.length === 0 && claim.nextAt > claim.now) break;
    }
    return claims;
  }

  /** The message with this id as it lies in the store. */
  async find(id: string): Promise<StoredMessage | undefined> {
    const [message] = await this.queue.get([id]);
    return message;
  }

  /** The message with this id, which has to be there. */
  async read(id: string): Promise<StoredMessage> {
    const message = await this.find(id);
    assert.ok(message !== undefined, `there is no message ${JSON.stringify(id)}`);
    return message;
  }

  /**
   * All messages of a state in pages of 100, unless the query says otherwise. `between` runs after each page that has a
   * successor.
   */
  async list(
    query: Partial<ListQuery> & Pick<ListQuery, "state">,
    between: (page: readonly StoredMessage[]) => Promise<unknown> = async () => {},
  ): Promise<StoredMessage[]> {
    const { limit = 100 } = query;
    const all: StoredMessage[] = [];
    for (let cursor = query.cursor; ;) {
      const page = await this.queue.list({ ...query, limit, cursor });
      assert.ok(page.messages.length <= limit, `${page.messages.length} messages in a page of ${limit}`);
      for (const message of page.messages) {
        assert.equal(message.state, query.state, `${message.id} is among the ${query.state} ones`);
      }
      all.push(...page.messages);
      // Else a list that does not move on would be read for ever.
      assert.ok(page.cursor === undefined || page.cursor !== cursor, "a page goes on behind the one before");
      cursor = page.cursor;
      if (cursor === undefined) return all;
      await between(page.messages);
    }
  }

  /** The ids of `list`. */
  async listed(...[query, between]: Parameters<Stage["list"]>): Promise<string[]> {
    return (await this.list(query, between)).map((message) => message.id);
  }

  /** Schedules messages, and buries them all in one call, so that they were buried at the same time. */
  async buryAll(all: readonly string[], options: Partial<Omit<NewMessage, "id">> = {}): Promise<void> {
    await this.queue.schedule(all.map((id) => newMessage(id, options)));
    const receipts = (await this.takeAll(all.length)).flatMap((claim) => claim.receipts);
    assert.equal(receipts.length, all.length, "only what is to be buried is due");
    const answers = await this.queue.bury(receipts.map((receipt) => ({ ...receipt, reason: "poison" })));
    assert.ok(answers.every((answer) => answer === "settled"));
  }

  /** The true time of the engine, by a claim that takes nothing. */
  async now(): Promise<number> {
    const { now } = await this.take({ limit: 0, consumer: "clock-reader" });
    return now;
  }

  /** Lets time pass until it is `at` by the clock of the engine, and asks for the time only when that should be so. */
  async reach(at: number): Promise<void> {
    for (let left = at - (await this.now()); left > 0; left = at - (await this.now())) {
      await this.harness.elapse(Math.ceil(left));
    }
  }

  /** Lets time pass until `promise` has settled, and gives its value. */
  async passing<T>(promise: PromiseLike<T>, what: string, within = 5 * second): Promise<T> {
    let settled = false;
    const mark = () => (settled = true);
    promise.then(mark, mark);
    await this.harness.until(() => settled, what, within);
    return await promise;
  }

  /** Has `closable` closed when the case ends, however it ends. */
  keep<T extends Closable>(closable: T): T {
    this.#closables.push(closable);
    return closable;
  }

  /** Closes what was kept. */
  async leave(): Promise<void> {
    const closing = Promise.all(this.#closables.map((one) => one.close({ timeout: 0 })));
    await this.passing(closing, "consumers of the case are closed", 20 * second);
  }
}

/** A case that plays on a stage. */
export function onStage(play: (stage: Stage) => Promise<void>): (harness: ConformanceHarness) => Promise<void> {
  return async (harness) => {
    const stage = new Stage(harness);
    try {
      await play(stage);
    } finally {
      await stage.leave();
    }
  };
}

/** A message as the engine takes it, due now unless `options` say otherwise. */
export function newMessage(id: string, options: Partial<Omit<NewMessage, "id">> = {}): NewMessage {
  return { id, payload: bytes(`payload of ${id}`), due: { delay: 0 }, onDuplicate: "keep", ...options };
}

export function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

export function text(payload: Uint8Array): string {
  return new TextDecoder().decode(payload);
}

/** Numbered ids, such as `a-0`, `a-1` … */
export function ids(count: number, prefix = "m"): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
}

/** The same ids in an order that looks random and is the same in each run. */
export function shuffled<T>(items: readonly T[]): T[] {
  const order = [...items];
  let seed = 1;
  for (let index = order.length - 1; index > 0; index--) {
    seed = (seed * 48_271) % 2_147_483_647;
    const other = seed % (index + 1);
    const [a, b] = [order[index], order[other]];
    if (a === undefined || b === undefined) continue;
    order[index] = b;
    order[other] = a;
  }
  return order;
}
