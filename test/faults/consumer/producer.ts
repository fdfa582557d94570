import type { Queue } from "../../../src/queue.js";
import type { Asked, History } from "./history.js";
import { codeOf } from "./recorded-consumer.js";
import type { Plan, Task } from "./task.js";

/** Schedules and cancels, and writes down what it asked for and was told. */
export class Producer {
  readonly #queue: Queue<Task>;
  readonly #history: History;

  constructor(queue: Queue<Task>, history: History) {
    this.#queue = queue;
    this.#history = history;
  }

  /** Gives what it was told: the outcome or the code of the failure. */
  async schedule(id: string, plan: Plan, delay: number): Promise<string> {
    const asked = this.#note(id, plan, delay);
    try {
      const { outcome, dueAt } = await this.#queue.schedule(asked.task, { id, delay });
      tell(asked, { outcome, dueAt: dueAt.getTime() });
      return outcome;
    } catch (error) {
      tell(asked, { failed: codeOf(error) });
      return codeOf(error);
    }
  }

  /** All in one call, which must succeed. */
  async scheduleAll(
    messages: readonly { readonly id: string; readonly plan: Plan; readonly delay: number }[],
  ): Promise<void> {
    const asked = messages.map(({ id, plan, delay }) => this.#note(id, plan, delay));
    const results = await this.#queue.scheduleMany(
      messages.map(({ id, delay }, index) => ({ payload: asked[index]!.task, id, delay })),
    );
    results.forEach(({ outcome, dueAt }, index) => tell(asked[index]!, { outcome, dueAt: dueAt.getTime() }));
  }

  async cancel(id: string): Promise<string> {
    const asked = this.#history.asked.get(id);
    const outcome = await this.#queue.cancel(id).catch(codeOf);
    if (asked !== undefined) asked.cancelled = { outcome, at: Date.now() };
    return outcome;
  }

  #note(id: string, plan: Plan, delay: number): Asked {
    const task = { plan, text: `${plan} ${id} \u{1F552} ${this.#history.asked.size}` };
    const asked: Asked = { task, earliest: Date.now() + delay };
    this.#history.asked.set(id, asked);
    return asked;
  }
}

function tell(asked: Asked, told: NonNullable<Asked["told"]>): void {
  Object.assign(asked, { told, toldAt: Date.now() });
}
