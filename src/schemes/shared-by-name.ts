import type { SchemeContext } from "./scheme-queue.js";

/**
 * What all queues of one name in one engine have in common. Opening a queue twice gives the same messages, so what a process
 * holds of them must not be the property of one of the two.
 */
export class SharedByName<Value> {
  readonly #engines = new WeakMap<SchemeContext, Map<string, Value>>();

  /** What there is under a name, made when it is first asked for. */
  of(context: SchemeContext, name: string, make: () => Value): Value {
    const values = this.#engines.get(context) ?? new Map<string, Value>();
    this.#engines.set(context, values);
    const value = values.get(name) ?? make();
    values.set(name, value);
    return value;
  }
}
