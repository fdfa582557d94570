import { checkSignal } from "../abort-signal.js";
import { type ConsumeOptions, type ConsumeSettings, readConsumeOptions } from "../consumer/consume-options.js";
import { checkOptionNames } from "../option-names.js";

/** How messages are iterated over. */
export interface DeliveriesOptions extends Omit<ConsumeOptions, "concurrency" | "timeout"> {
  /** Deliveries at most that are fetched and not settled, 1 to 100,000. Default 10. */
  concurrency?: number | undefined;
  /** How long you may hold a delivery; then its signal is aborted and the delivery has failed. Default: for ever. */
  timeout?: ConsumeOptions["timeout"];
  /** Ends the iteration as `break` does; it does not throw. Default: none. */
  signal?: AbortSignal | undefined;
}

/** The options of an iteration, checked and with their defaults; durations in ms. */
export interface DeliveriesSettings extends ConsumeSettings {
  readonly signal: AbortSignal | undefined;
}

const optionNames = new Set(["concurrency", "lease", "retry", "timeout", "signal"]);

/** Checks options and fills in the defaults. Throws `invalid-argument`. */
export function readDeliveriesOptions(options: DeliveriesOptions): DeliveriesSettings {
  checkOptionNames(options, optionNames, "options");
  const { signal, ...consumeOptions } = options;
  return { ...readConsumeOptions(consumeOptions), signal: checkSignal(signal) };
}
