import { EventEmitter } from "node:events";
import type { CancelTimer } from "../../src/clock.js";
import type { Claimed, Engine, EngineQueue } from "../../src/engine.js";

/** A consumer as the contract asks for, and no more: it claims when it was told to, and acknowledges at once. */
export class EngineConsumer {
  readonly name: string;
  /** How late each message was taken, ms by the clock of the engine. */
  readonly lateness = new Map<string, number>();
  /** Claims so far, but for those made only because the poll was over. */
  claims = 0;
  /** Claims made only because the poll was over. */
  polls = 0;
  readonly #engine: Engine;
  readonly #queue: EngineQueue;
  readonly #room: number;
  readonly #news = new EventEmitter();
  #watch: AsyncDisposable | undefined;
  #cancel: CancelTimer = () => {};
  /** When to claim next, and whether that is only the poll. */
  #plan = { at: 0, poll: false };
  /** The earliest time heard since the claim in flight was sent. */
  #heard = Infinity;
  #claiming = false;
  #stopped = false;
  #tokens = 0;

  constructor(engine: Engine, queue: string, name: string, room: number) {
    this.name = name;
    this.#engine = engine;
    this.#queue = engine.open(queue);
    this.#room = room;
  }

  async start(): Promise<void> {
    this.#watch = await this.#queue.watch(this.name, {
      wake: (at) => {
        if (this.#claiming) this.#heard = Math.min(this.#heard, at);
        else if (at < this.#plan.at) this.#planAt(at, false);
      },
      postpone: (at) => {
        if (!this.#claiming) this.#planAt(at, this.#plan.poll);
      },
      interrupted() {},
      recovered: () => this.#planAt(0, false),
    });
    await this.#claim();
  }

  onTaken(listener: () => void): void {
    this.#news.on("taken", listener);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    await this.#watch?.[Symbol.asyncDispose]();
    await this.#engine.close();
  }

  #planAt(at: number, poll: boolean): void {
    if (this.#stopped) return;
    this.#cancel();
    this.#plan = { at, poll };
    this.#cancel = this.#queue.clock.runAt(at, () => {
      // One that was stopped does not hear how its last claim ended.
      this.#claim().catch((error: unknown) => {
        if (!this.#stopped) throw error;
      });
    });
  }

  async #claim(): Promise<void> {
    if (this.#claiming || this.#stopped) return;
    this.#cancel();
    this.#claiming = true;
    this.#heard = Infinity;
    if (this.#plan.poll) this.polls++;
    else this.claims++;
    const token = `${this.name}-${++this.#tokens}`;
    const request = { limit: this.#room, lease: 30_000, consumer: this.name, token, attempts: 5 };
    const { messages, leaseUntil, nextAt, now } = await this.#queue.claim(request);
    const takenAt = this.#queue.clock.now();
    const full = messages.length === this.#room;
    this.#note(messages, Math.max(takenAt, now));
    await this.#queue.acknowledge(messages.map(({ id }) => ({ id, token, leaseUntil })));
    this.#claiming = false;
    const at = Math.min(nextAt, this.#heard);
    // What the poll is planned for is 5 s away from the claim; what is planned for a message seldom is.
    this.#planAt(at, !full && at >= Math.floor(now) + 5_000);
  }

  #note(messages: readonly Claimed[], takenAt: number): void {
    for (const { id, dueAt } of messages) this.lateness.set(id, takenAt - dueAt);
    if (messages.length > 0) this.#news.emit("taken");
  }
}
