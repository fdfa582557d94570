import { type InspectOptions, inspect } from "node:util";
import { type Duration, parseDelay } from "../duration.js";
import type { Claimed, Receipt } from "../engine.js";
import { PunctualError } from "../errors.js";
import { invalidValue } from "../invalid-argument.js";
import { checkOptionNames } from "../option-names.js";
import { quote } from "../quote.js";
import { isWellFormed } from "../well-formed.js";
import { parseLease } from "./consume-options.js";

/**
 * Works on one message. When it returns (or what it returns is fulfilled) the message is acknowledged, when it throws (or
 * rejects) the message is retried by the policy of the consumer. One that settled by hand has settled: nothing more happens
 * to the message, and what it throws then is told by the event `error`.
 */
export type Handler<Payload> = (message: Delivery<Payload>) => unknown;

/**
 * A message in the hands of a handler.
 *
 * The first of `acknowledge`, `retry`, `release` and `bury` settles it. Each of them, and `extend`, fails with `lease-lost`
 * and changes nothing once the lease has ended: when the message was settled before (by hand, or because the handler
 * returned, threw or was timed out), when it was handed back by `close`, or when the lease ran out. It fails with
 * `outcome-unknown` when no reply came until the lease ended. These failures are told by the events `leaseLost` and `error`
 * too, so a promise that nobody awaits ends no process.
 */
export interface Delivery<Payload> {
  readonly id: string;
  readonly payload: Payload;
  /** When it was due, by the clock of the engine. */
  readonly dueAt: Date;
  /** Which delivery this is, from 1. Released deliveries do not count. */
  readonly attempt: number;
  /** Deliveries at most: the limit of the message, else of the consumer. */
  readonly attempts: number;
  readonly headers: Record<string, string>;
  /** How long after the due time its handler started, ms; never negative. */
  readonly lateness: number;
  /**
   * Aborts when the work is in vain: the lease is lost (`lease-lost`), the time-out is over (`timed-out`), or `close` gave
   * up waiting (`closed`). Its reason is a `PunctualError` with that code.
   */
  readonly signal: AbortSignal;
  /** Done: deletes the message. */
  acknowledge(): Promise<void>;
  /**
   * Failed: due again after `delay`, by default that of the consumer's policy, one attempt used; buried with reason
   * `attempts` when this was the last. `error` is kept with the message.
   */
  retry(options?: { delay?: Duration | undefined; error?: unknown }): Promise<void>;
  /** Not worked on, or not now: due again after `delay`, by default at once in its old place; no attempt used. */
  release(options?: { delay?: Duration | undefined }): Promise<void>;
  /** Moves it to the dead letters. The reason is 1 to 256 bytes of text. */
  bury(reason: string): Promise<void>;
  /** The lease ends this long from now, by default the consumer's lease; for those who cannot leave it to the consumer. */
  extend(lease?: Duration): Promise<void>;
}

/** What a delivery asks of its consumer. They resolve with what went wrong, if anything did. */
export interface DeliverySettler<Payload> {
  acknowledge(delivery: LeasedDelivery<Payload>): Promise<PunctualError | undefined>;
  /** Acknowledges what nobody waits for. Who made this hears when it is over; what went wrong is told by events alone. */
  finish(delivery: LeasedDelivery<Payload>): void;
  /** `failure` holds what was thrown, if anything was; without a delay the policy of the consumer has one. */
  retry(
    delivery: LeasedDelivery<Payload>,
    failure: { readonly error: unknown } | undefined,
    delay: number | undefined,
  ): Promise<PunctualError | undefined>;
  release(delivery: LeasedDelivery<Payload>, delay: number | undefined): Promise<PunctualError | undefined>;
  bury(delivery: LeasedDelivery<Payload>, reason: string, error?: PunctualError): Promise<PunctualError | undefined>;
  extend(delivery: LeasedDelivery<Payload>, lease: number | undefined): Promise<PunctualError | undefined>;
}

/**
 * - `held`: the lease is ours and nothing was decided.
 * - `settled`: a settlement was asked for; whether it is confirmed is known to who asked.
 * - `handed-back`: `close` gave up waiting for the handler and released it.
 * - `lost`: the lease ended without us.
 */
export type DeliveryState = "held" | "settled" | "handed-back" | "lost";

const notDecoded = Symbol("not decoded");

const retryNames = new Set(["delay", "error"]);
const releaseNames = new Set(["delay"]);
const maxReasonBytes = 256;

/**
 * One lease, and what its handler sees of it. It is a `Receipt` itself, so that hundreds of thousands a second need no
 * object more; the parts that few handlers touch are made when first asked for.
 */
export class LeasedDelivery<Payload> implements Delivery<Payload>, Receipt {
  readonly id: string;
  readonly token: string;
  readonly attempt: number;
  readonly attempts: number;
  /** The last deadline that the engine confirmed. */
  leaseUntil: number;
  state: DeliveryState = "held";
  /** Told when it is no longer held, before anything is sent; again when a settlement finds that the lease was lost. */
  onEnd: (() => void) | undefined;
  /** Told when nobody waits for its handler any more. */
  onAbandoned: (() => void) | undefined;
  /** Calls of `extend` under way. */
  extensions = 0;
  /** See `LeaseKeeper`, which holds it until all is over. */
  place: number | undefined;
  /** The settlement under way or done, if any; the handler may not have waited for its own. */
  settlement: Promise<PunctualError | undefined> | undefined;
  /** Whether the handler asked for the settlement. */
  settledByHand = false;
  readonly #dueAt: number;
  readonly #givenHeaders: Claimed["headers"];
  /** Until the payload is decoded: nobody needs both. */
  #encoded: Uint8Array | undefined;
  readonly #settler: DeliverySettler<Payload>;
  #payload: Payload | typeof notDecoded = notDecoded;
  #lateness = 0;
  #controller: AbortController | undefined;
  #abortReason: PunctualError | undefined;
  #headers: Record<string, string> | undefined;

  constructor(claimed: Claimed, token: string, leaseUntil: number, settler: DeliverySettler<Payload>) {
    this.id = claimed.id;
    this.token = token;
    this.attempt = claimed.attempt;
    this.attempts = claimed.attempts;
    this.leaseUntil = leaseUntil;
    this.#dueAt = claimed.dueAt;
    this.#givenHeaders = claimed.headers;
    this.#encoded = claimed.payload;
    this.#settler = settler;
  }

  get isExtending(): boolean {
    return this.extensions > 0;
  }

  get payload(): Payload {
    if (this.#payload === notDecoded) throw new PunctualError("undecodable", "The payload was not decoded.");
    return this.#payload;
  }

  get dueAt(): Date {
    return new Date(this.#dueAt);
  }

  get lateness(): number {
    return this.#lateness;
  }

  get headers(): Record<string, string> {
    this.#headers ??= { ...this.#givenHeaders };
    return this.#headers;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#abortReason !== undefined) this.#controller.abort(this.#abortReason);
    }
    return this.#controller.signal;
  }

  /** The bytes of the payload as they lie in the store, until it begins. */
  get encodedPayload(): Uint8Array {
    return this.#encoded ?? new Uint8Array();
  }

  /** The handler starts now, with this payload. */
  begin(payload: Payload, now: number): void {
    this.#payload = payload;
    this.#encoded = undefined;
    // The clock of a server is estimated at the latest possible, so it may lie a hair before the due time.
    this.#lateness = Math.max(0, now - this.#dueAt);
  }

  /** What a log shows: the message, and not how it is kept. */
  toJSON(): Record<string, unknown> {
    const { id, dueAt, attempt, attempts, headers, lateness } = this;
    const payload = this.#payload === notDecoded ? undefined : this.#payload;
    return { id, payload, dueAt, attempt, attempts, headers, lateness };
  }

  [inspect.custom](_depth: number, options: InspectOptions): string {
    return `Delivery ${inspect(this.toJSON(), options)}`;
  }

  /** It is no longer held. */
  end(state: Exclude<DeliveryState, "held">): void {
    this.state = state;
    this.onEnd?.();
  }

  /** Its lease is over, and what its holder does is in vain. */
  lose(error: PunctualError): void {
    this.end("lost");
    this.abort(error);
  }

  /** It was held too long: it is retried. */
  timeOut(error: PunctualError): Promise<PunctualError | undefined> {
    // First the settlement, so that its holder, told by the signal, can no longer settle otherwise.
    const settlement = this.#settler.retry(this, { error }, undefined);
    this.abort(error);
    return settlement;
  }

  /** Its consumer is closed, and waits for its handler no more. */
  abandon(): void {
    this.onAbandoned?.();
  }

  /** Aborts the signal; only the first reason counts. */
  abort(reason: PunctualError): void {
    if (this.#abortReason !== undefined) return;
    this.#abortReason = reason;
    this.#controller?.abort(reason);
  }

  acknowledge(): Promise<void> {
    return this.#byHand("acknowledge", () => this.#settler.acknowledge(this));
  }

  retry(options: { delay?: Duration | undefined; error?: unknown } = {}): Promise<void> {
    return this.#byHand("retry", () => {
      checkOptionNames(options, retryNames, "options");
      return this.#settler.retry(
        this,
        options.error === undefined ? undefined : { error: options.error },
        options.delay === undefined ? undefined : parseDelay(options.delay, "delay"),
      );
    });
  }

  release(options: { delay?: Duration | undefined } = {}): Promise<void> {
    return this.#byHand("release", () => {
      checkOptionNames(options, releaseNames, "options");
      return this.#settler.release(this, options.delay === undefined ? undefined : parseDelay(options.delay, "delay"));
    });
  }

  bury(reason: string): Promise<void> {
    return this.#byHand("bury", () => this.#settler.bury(this, checkReason(reason)));
  }

  extend(lease?: Duration): Promise<void> {
    return this.#byHand("extend", () =>
      this.#settler.extend(this, lease === undefined ? undefined : parseLease(lease)),
    );
  }

  #byHand(verb: string, start: () => Promise<PunctualError | undefined>): Promise<void> {
    const done = this.#unlessOver(verb, start);
    // Handled here: a handler that does not wait for it must not end the process, and the events have told of it.
    done.catch(() => {});
    return done;
  }

  async #unlessOver(verb: string, start: () => Promise<PunctualError | undefined>): Promise<void> {
    if (this.state !== "held") {
      const timedOut = !this.settledByHand && this.#abortReason?.code === "timed-out";
      throw leaseOver(this.id, verb, timedOut ? "timed-out" : this.state);
    }
    const done = start();
    if (this.state !== "held") this.settledByHand = true;
    const failure = await done;
    if (failure !== undefined) throw failure;
  }
}

const why: Readonly<Record<DeliveryState | "timed-out", string>> = {
  held: "it is held",
  "timed-out": "it was held longer than the time-out, and was retried",
  settled: "it was settled before",
  "handed-back": "it was handed back when its consumer closed",
  lost: "its lease had ended before",
};

/** The failure of who works on a message whose lease is over. */
function leaseOver(id: string, verb: string, state: keyof typeof why): PunctualError {
  return new PunctualError("lease-lost", `Cannot ${verb} message ${quote(id)}: ${why[state]}. Nothing was changed.`, {
    details: { id },
  });
}

function checkReason(reason: unknown): string {
  const right = typeof reason === "string" && reason !== "" && isWellFormed(reason);
  if (right && Buffer.byteLength(reason) <= maxReasonBytes) return reason;
  throw invalidValue("reason", reason, `a string of 1 to ${maxReasonBytes} bytes of UTF-8`);
}
