import type { Clock } from "../clock.js";
import type { Codec } from "../codec.js";
import { PunctualError } from "../errors.js";
import { decodePayload } from "../message.js";
import { quote } from "../quote.js";
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
}

/** How a run ended. */
export type RunEnd =
  | { readonly kind: "returned" }
  | { readonly kind: "threw"; readonly error: unknown }
  | { readonly kind: "timed-out"; readonly error: PunctualError }
  | { readonly kind: "undecodable"; readonly error: PunctualError };

const returned: RunEnd = { kind: "returned" };

/**
 * Runs one message: decode, announce, handle, settle. Never rejects; it is over when the settlement is, whoever asked for
 * that.
 */
export async function runOne<Payload>(delivery: LeasedDelivery<Payload>, steps: RunSteps<Payload>): Promise<RunEnd> {
  const end = await handle(delivery, steps);
  const settlement = settle(delivery, end, steps);
  // After the settlement was asked for, so that it leaves before the claim for which this makes room.
  steps.onHandlerEnded();
  const failure = await settlement;
  tellIfUnheard(delivery, end, failure, steps);
  return end;
}

function handle<Payload>(delivery: LeasedDelivery<Payload>, steps: RunSteps<Payload>): Promise<RunEnd> | RunEnd {
  let payload: Payload;
  try {
    payload = decodePayload(delivery.id, delivery.encodedPayload, steps.codec);
  } catch (error) {
    return { kind: "undecodable", error: asUndecodable(error) };
  }
  delivery.begin(payload, steps.clock.now());
  steps.events.emit("delivered", delivery);
  return steps.timeout === undefined ? call(delivery, steps) : callInTime(delivery, steps, steps.timeout);
}

async function call<Payload>(delivery: LeasedDelivery<Payload>, steps: RunSteps<Payload>): Promise<RunEnd> {
  try {
    await steps.handler(delivery);
    return returned;
  } catch (error) {
    return { kind: "threw", error };
  }
}

/** A handler that comes too late still runs; nobody waits for it any more, and what it throws was caused by the abort. */
async function callInTime<Payload>(
  delivery: LeasedDelivery<Payload>,
  steps: RunSteps<Payload>,
  timeout: number,
): Promise<RunEnd> {
  let cancelTimer = () => {};
  const overdue = new Promise<RunEnd>((resolve) => {
    cancelTimer = steps.clock.runAfter(timeout, () => {
      const message = `The handler of message ${quote(delivery.id)} ran longer than its time-out of ${timeout} ms.`;
      resolve({
        kind: "timed-out",
        error: new PunctualError("timed-out", message, { details: { id: delivery.id, timeout } }),
      });
    });
  });
  // Else a handler that never ends would keep the process alive for as long as it might have run.
  delivery.onAbandoned = cancelTimer;
  const end = await Promise.race([call(delivery, steps), overdue]);
  cancelTimer();
  return end;
}

function settle<Payload>(
  delivery: LeasedDelivery<Payload>,
  end: RunEnd,
  { settler }: RunSteps<Payload>,
): Promise<PunctualError | undefined> | undefined {
  // Settled by hand, lost, or handed back.
  if (delivery.state !== "held") {
    if (end.kind === "timed-out") delivery.abort(end.error);
    return delivery.settlement;
  }
  switch (end.kind) {
    case "returned":
      return settler.acknowledge(delivery);
    case "threw":
      return settler.retry(delivery, { error: end.error }, undefined);
    case "timed-out":
      return delivery.timeOut(end.error);
    case "undecodable":
      return settler.bury(delivery, "undecodable", end.error);
  }
}

/** A handler that failed after it had settled: no retry will tell of it. */
function tellIfUnheard<Payload>(
  delivery: LeasedDelivery<Payload>,
  end: RunEnd,
  failure: PunctualError | undefined,
  { events }: RunSteps<Payload>,
): void {
  if (end.kind !== "threw" && end.kind !== "timed-out") return;
  const byHand = delivery.settledByHand && end.error !== failure;
  if (byHand) events.emit("error", end.error, delivery);
}

function asUndecodable(error: unknown): PunctualError {
  if (error instanceof PunctualError) return error;
  return new PunctualError("undecodable", "The payload cannot be decoded.", { cause: error });
}
