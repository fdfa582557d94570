import type { QueueStage } from "./queue-stage.js";
import type { Plan } from "./task.js";

export interface LoadOptions {
  /** Messages in all; half of them are scheduled before anything else, in one call, and the rest in calls of their own. */
  readonly messages: number;
  /** How long it goes on, ms. */
  readonly lasts: number;
}

/** How often some are scheduled and cancelled, ms. */
const every = 25;
const far = 3_600_000;

/** A queue at work: messages that succeed, fail, are released and buried, come due all the time, and some are cancelled. */
export class Load {
  readonly #stage: QueueStage;
  readonly #ids: string[] = [];
  readonly #calls: Promise<unknown>[] = [];
  readonly #ended: Promise<void>;

  private constructor(stage: QueueStage, { messages, lasts }: LoadOptions) {
    this.#stage = stage;
    const ticks = Math.floor(lasts / every);
    const perTick = Math.ceil(messages / 2 / ticks);
    let tick = 0;
    this.#ended = new Promise((resolve) => {
      const timer = setInterval(() => {
        for (let n = 0; n < perTick && this.#ids.length < messages; n++) {
          const id = this.#next();
          this.#calls.push(
            stage.producer.schedule(id, planOf(this.#ids.length), 300 + ((this.#ids.length * 37) % 500)),
          );
        }
        this.#calls.push(stage.producer.cancel(`far-${tick}`));
        // One that is due about now: whatever becomes of it, the answer must be true.
        this.#calls.push(stage.producer.cancel(`m${Math.floor((messages / 2) * (tick / ticks))}`));
        if (++tick < ticks) return;
        clearInterval(timer);
        resolve();
      }, every);
    });
  }

  static async start(stage: QueueStage, options: LoadOptions): Promise<Load> {
    const load = new Load(stage, options);
    const half = Array.from({ length: options.messages / 2 }, (_, n) => ({
      id: load.#next(),
      plan: planOf(n),
      delay: Math.floor((options.lasts * n * 2) / options.messages),
    }));
    const distant = Array.from({ length: Math.ceil(options.lasts / every) + 10 }, (_, n) => ({
      id: `far-${n}`,
      plan: "succeed" as const,
      delay: far,
    }));
    await stage.producer.scheduleAll([...half, ...distant]);
    return load;
  }

  /** Waits until everything was asked for. Gives what schedule and cancel said, each once. */
  async over(): Promise<Set<unknown>> {
    await this.#ended;
    return new Set(await Promise.all(this.#calls));
  }

  /** Waits until all is scheduled, and what was to be delivered is done. Gives what schedule and cancel said, each once. */
  async drained(within = 10_000): Promise<Set<unknown>> {
    const told = await this.over();
    const { history } = this.#stage;
    const open = this.#ids.filter((id) => {
      const outcome = history.asked.get(id)?.cancelled?.outcome;
      return outcome !== "cancelled" && outcome !== "outcome-unknown";
    });
    let first = 0;
    const done = () => {
      while (first < open.length && (history.acknowledged.has(open[first]!) || history.buried.has(open[first]!)))
        first++;
      return first === open.length;
    };
    await history.until(done, `all is done, as ${open[first]}`, within).catch((error: unknown) => {
      throw new Error(`not done: ${open[first]}, told ${JSON.stringify(history.asked.get(open[first]!))}`, {
        cause: error,
      });
    });
    return told;
  }

  #next(): string {
    const id = `m${this.#ids.length}`;
    this.#ids.push(id);
    return id;
  }
}

function planOf(n: number): Plan {
  if (n % 50 === 9) return "bury";
  if (n % 10 === 3) return "fail-once";
  return n % 10 === 7 ? "release-once" : "succeed";
}
