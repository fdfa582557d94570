import type { Clock } from "../clock.js";
import type { Codec } from "../codec.js";
import { PunctualError } from "../errors.js";
import { decodePayload } from "../message.js";
import { quote } from "../quote.js";
import { isThenable } from "../thenable.js";
import type { DeliverySettler, Handler, LeasedDelivery } from "./delivery.js";
import type { EventEmitter } from "./events.js";

/** What running a message needs. */
export interface RunSteps<Payload> {
  readonly clock: Clock;
  readonly codec: Codec<Payload>;
  readonly handler: Handler<Payload>;
  /** How long the handler may run, ms. */
  readonly timeout: number | undefined;
  readonly settler: DeliverySettler<Payload>;
  readonly events: EventEmitter<Payload>;
  /** Called once when the handler no longer counts as being at work. */
  readonly onHandlerEnded: () => void;
  /** Called once when all is over: the settlement too, whoever asked for that. */
  readonly onOver: (delivery: LeasedDelivery<Payload>) => void;
}

/** How a run failed. */
type RunFailure =
  | { readonly kind: "threw"; readonly error: unknown }
  | { readonly kind: "timed-out"; readonly error: PunctualError }
  | { readonly kind: "undecodable"; readonly error: PunctualError };

/**
 * Runs one message: decode, announce, handle, settle. Never throws. What is usual (a handler that returns, or what it returns is
 * fulfilled) costs one promise of our own: with seven of them, and their closures, a message made 4.7 KB of garbage, now 2.7.
 */
export function runOne<Payload>(delivery: LeasedDelivery<Payload>, steps: RunSteps<Payload>): void {
  let payload: Payload;
  try {
    payload = decodePayload(delivery.id, delivery.encodedPayload, steps.codec);
  } catch (error) {
    return ended(delivery, { kind: "undecodable", error: asUndecodable(error) }, steps);
  }
  delivery.begin(payload, steps.clock.now());
  steps.events.emit("delivered", delivery);
  if (steps.timeout === undefined) call(delivery, steps, ended);
  else callInTime(delivery, steps, steps.timeout);
}

// oxlint-disable-next-line typescript/unbound-method -- it is called on a promise
const onSettled = Promise.prototype.then;

function call<Payload>(
  delivery: LeasedDelivery<Payload>,
  steps: RunSteps<Payload>,
  onEnd: typeof ended<Payload>,
): void {
  try {
    const answer = steps.handler(delivery);
    // To look at an answer may throw, too; and of a promise whose `then` was replaced only the real one answers once.
    if (isThenable(answer)) {
      return void onSettled.call(
        Promise.resolve(answer),
        () => onEnd(delivery, undefined, steps),
        (error: unknown) => onEnd(delivery, { kind: "threw", error }, steps),
      );
    }
  } catch (error) {
    return onEnd(delivery, { kind: "threw", error }, steps);
  }
  onEnd(delivery, undefined, steps);
}

/** A handler that comes too late still runs; nobody waits for it any more, and what it throws was caused by the abort. */
function callInTime<Payload>(delivery: LeasedDelivery<Payload>, steps: RunSteps<Payload>, timeout: number): void {
  let isOver = false;
  let cancelTimer = () => {};
  const onEnd: typeof ended<Payload> = (...run) => {
    if (isOver) return;
    isOver = true;
    cancelTimer();
    ended(...run);
  };
  cancelTimer = steps.clock.runAfter(timeout, () => {
    const message = `The handler of message ${quote(delivery.id)} ran longer than its time-out of ${timeout} ms.`;
    const error = new PunctualError("timed-out", message, { details: { id: delivery.id, timeout } });
    onEnd(delivery, { kind: "timed-out", error }, steps);
  });
  // Else a handler that never ends would keep the process alive for as long as it might have run.
  delivery.onAbandoned = cancelTimer;
  call(delivery, steps, onEnd);
}

function ended<Payload>(
  delivery: LeasedDelivery<Payload>,
  failed: RunFailure | undefined,
  steps: RunSteps<Payload>,
): void {
  if (failed === undefined && delivery.state === "held") {
    steps.settler.finish(delivery);
    // After the settlement was asked for, so that it leaves before the claim for which this makes room.
    return steps.onHandlerEnded();
  }
  const settlement = settle(delivery, failed, steps);
  steps.onHandlerEnded();
  void Promise.resolve(settlement).then((failure) => {
    if (failed !== undefined) tellIfUnheard(delivery, failed, failure, steps);
    steps.onOver(delivery);
  });
}

function settle<Payload>(
  delivery: LeasedDelivery<Payload>,
  failed: RunFailure | undefined,
  { settler }: RunSteps<Payload>,
): Promise<PunctualError | undefined> | undefined {
  // Settled by hand, lost, or handed back.
  if (failed === undefined || delivery.state !== "held") {
    if (failed?.kind === "timed-out") delivery.abort(failed.error);
    return delivery.settlement;
  }
  switch (failed.kind) {
    case "threw":
      return settler.retry(delivery, { error: failed.error }, undefined);
    case "timed-out":
      return delivery.timeOut(failed.error);
    case "undecodable":
      return settler.bury(delivery, "undecodable", failed.error);
  }
}

/** A handler that failed after it had settled: no retry will tell of it. */
function tellIfUnheard<Payload>(
  delivery: LeasedDelivery<Payload>,
  failed: RunFailure,
  failure: PunctualError | undefined,
  { events }: RunSteps<Payload>,
): void {
  if (failed.kind === "undecodable") return;
  const byHand = delivery.settledByHand && failed.error !== failure;
  if (byHand) events.emit("error", failed.error, delivery);
}

function asUndecodable(error: unknown): PunctualError {
  if (error instanceof PunctualError) return error;
  return new PunctualError("undecodable", "The payload cannot be decoded.", { cause: error });
}
