import type { Dropped } from "../engine.js";
import { PunctualError } from "../errors.js";
import { invalidValue } from "../invalid-argument.js";
import { warnOfListener } from "../listener-warning.js";
import { quote } from "../quote.js";
import { isThenable } from "../thenable.js";
import type { Delivery } from "./delivery.js";

/** The events of a consumer and what their listeners are called with. */
export interface ConsumerEvents<Payload> {
  /** A message was decoded and its handler is about to start. */
  delivered: [message: Delivery<Payload>];
  /** A message is done and deleted. */
  acknowledged: [message: Delivery<Payload>];
  /** A delivery failed and the message is due again after `delay` ms. */
  retried: [message: Delivery<Payload>, details: { readonly delay: number; readonly error: unknown }];
  /**
   * A message went to the dead letters: by `bury`, as `undecodable`, after its last attempt (`attempts`), or because it had
   * `expired`. The last two can be found by the store at a claim; then only the id is known.
   */
  buried: [message: { readonly id: string }, details: { readonly reason: string; readonly error?: unknown }];
  /** The lease ended before the message was settled, so it is delivered again, here or elsewhere; its signal was aborted. */
  leaseLost: [message: Delivery<Payload>, error: PunctualError];
  /**
   * Dead letters fell out, because the engine bounds how many are kept and for how long. Told to every consumer of the Queue
   * whose call made room; `total` counts all that have fallen out of this queue.
   */
  dropped: [dropped: Dropped];
  /** The store answers again after an outage, of which an `error` told. */
  recovered: [];
  /**
   * What nobody else is told: an outage of the store (once, not for each try, and once more when its cause becomes
   * `misconfigured`), a message that could not be settled, a handler that threw after it had settled, a listener or a backoff
   * that threw. The message, where there is one.
   */
  error: [error: unknown, message?: { readonly id: string }];
}

export type ConsumerEvent = keyof ConsumerEvents<unknown>;

export type Listener<Payload, Event extends ConsumerEvent> = (...args: ConsumerEvents<Payload>[Event]) => unknown;

type Listeners<Payload> = { readonly [Event in ConsumerEvent]: Set<Listener<Payload, Event>> };

/** Keeps listeners and calls them. Nothing that a listener does gets in the way of the consumer. */
export class EventEmitter<Payload> {
  readonly #listeners: Listeners<Payload> = {
    delivered: new Set(),
    acknowledged: new Set(),
    retried: new Set(),
    buried: new Set(),
    leaseLost: new Set(),
    dropped: new Set(),
    recovered: new Set(),
    error: new Set(),
  };

  /** Adds a listener; one that is there already stays where it is. */
  add<Event extends ConsumerEvent>(event: Event, listener: Listener<Payload, Event>): void {
    this.#check(event, listener);
    this.#listeners[event].add(listener);
  }

  /** Removes a listener; one that is not there is none to remove. */
  remove<Event extends ConsumerEvent>(event: Event, listener: Listener<Payload, Event>): void {
    this.#check(event, listener);
    this.#listeners[event].delete(listener);
  }

  /** Calls the listeners of an event in their order. Never throws. */
  emit<Event extends ConsumerEvent>(event: Event, ...args: ConsumerEvents<Payload>[Event]): void {
    const listeners: ReadonlySet<Listener<Payload, Event>> = this.#listeners[event];
    if (listeners.size === 0) return;
    // A copy: a listener may add and remove listeners while it is called.
    for (const listener of Array.from(listeners)) {
      try {
        const returned = listener(...args);
        if (isThenable(returned)) returned.then(undefined, (error: unknown) => this.#listenerFailed(event, error));
      } catch (error) {
        this.#listenerFailed(event, error);
      }
    }
  }

  #check(event: string, listener: unknown): void {
    if (!Object.hasOwn(this.#listeners, event)) {
      const names = Object.keys(this.#listeners).join(", ");
      throw new PunctualError("invalid-argument", `There is no event ${quote(event)}; there are ${names}.`, {
        details: { argument: "event" },
      });
    }
    if (typeof listener !== "function") {
      throw invalidValue("listener", listener, "a function");
    }
  }

  #listenerFailed(event: ConsumerEvent, error: unknown): void {
    // An error listener that throws cannot be told of its own error; a warning is better than silence or an endless loop.
    if (event === "error") warnOfListener("A listener of error", error);
    else this.emit("error", error);
  }
}
