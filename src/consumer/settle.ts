import { Batcher, type OnResult } from "../batcher.js";
import type { Clock } from "../clock.js";
import type { Burial, EngineQueue, Receipt, Release, Retry, Settlement } from "../engine.js";
import { asPunctualError, type ErrorCode, type PunctualError } from "../errors.js";
import { resultsOf, sameFailure } from "../partial-results.js";
import { BackOff } from "./back-off.js";

/** What became of one settlement; a failure when the store did not answer until the lease ended. */
export type SettleOutcome = Settlement | PunctualError;

/** Settles leases: calls of one tick become one, and a call that fails is repeated as long as the lease lasts. */
export class Settler {
  readonly #acknowledgements: Batcher<Receipt, SettleOutcome>;
  readonly #retries: Batcher<Retry, SettleOutcome>;
  readonly #releases: Batcher<Release, SettleOutcome>;
  readonly #burials: Batcher<Burial, SettleOutcome>;

  constructor(queue: EngineQueue, random: () => number) {
    const { clock } = queue;
    const persistent =
      <R extends Receipt>(call: (receipts: readonly R[]) => Promise<Settlement[]>) =>
      (receipts: readonly R[]) =>
        settlePersistently(call, receipts, clock, random);
    this.#acknowledgements = new Batcher(
      persistent((receipts) => queue.acknowledge(receipts)),
      { clock },
    );
    this.#retries = new Batcher(
      persistent((retries) => queue.retry(retries)),
      { clock },
    );
    this.#releases = new Batcher(
      persistent((releases) => queue.release(releases)),
      { clock },
    );
    this.#burials = new Batcher(
      persistent((burials) => queue.bury(burials)),
      { clock },
    );
  }

  acknowledge(receipt: Receipt): Promise<SettleOutcome> {
    return this.#acknowledgements.add(receipt);
  }

  /** The same without a promise: `listener` hears the outcome. */
  acknowledgeFor<R extends Receipt>(receipt: R, listener: OnResult<R, SettleOutcome>): void {
    this.#acknowledgements.addFor(receipt, listener as OnResult<Receipt, SettleOutcome>);
  }

  retry(retry: Retry): Promise<SettleOutcome> {
    return this.#retries.add(retry);
  }

  release(release: Release): Promise<SettleOutcome> {
    return this.#releases.add(release);
  }

  bury(burial: Burial): Promise<SettleOutcome> {
    return this.#burials.add(burial);
  }
}

/** After these the store may answer later. The others say that it never will. */
const passing: ReadonlySet<ErrorCode> = new Set([
  "not-sent",
  "outcome-unknown",
  "refused",
  "misconfigured",
  "storage-full",
]);

/** The estimate of the engine's clock may lag so much, ms; nearer to its end, who ended a lease is not known. */
const clockMargin = 100;

interface Unsettled<R> {
  readonly place: number;
  readonly receipt: R;
  /** A try ended without a reply, so it may have settled. */
  uncertain: boolean;
}

/** Repeats a call until each receipt has its answer or its lease has ended. Answers in the order of the receipts. */
export async function settlePersistently<R extends Receipt>(
  call: (receipts: readonly R[]) => Promise<Settlement[]>,
  receipts: readonly R[],
  clock: Clock,
  random: () => number,
): Promise<SettleOutcome[]> {
  let failure: unknown;
  try {
    const settlements = await call(receipts);
    return receipts.length === settlements.length
      ? settlements
      : receipts.map((_, place) => settlements[place] ?? "outcome-unknown");
  } catch (error) {
    failure = error;
  }
  const outcomes: SettleOutcome[] = Array.from(receipts, () => "outcome-unknown");
  let open: Unsettled<R>[] = receipts.map((receipt, place) => ({ place, receipt, uncertain: false }));
  const backOff = new BackOff(clock, random);
  for (;;) {
    const error = asPunctualError(failure);
    const known = resultsOf(error);
    const goesOn = passing.has(error.code);
    const now = clock.now();
    open = open.filter((item, index) => {
      const settlement: unknown = known[index];
      if (isSettlement(settlement)) {
        outcomes[item.place] = judge(item, settlement, clock);
        return false;
      }
      item.uncertain ||= error.code === "outcome-unknown";
      if (goesOn && item.receipt.leaseUntil > now) return true;
      outcomes[item.place] = item.uncertain ? "outcome-unknown" : withoutResults(error);
      return false;
    });
    if (open.length === 0) return outcomes;
    await backOff.wait();
    try {
      const settlements = await call(open.map(({ receipt }) => receipt));
      open.forEach((item, index) => {
        const settlement = settlements[index];
        if (settlement !== undefined) outcomes[item.place] = judge(item, settlement, clock);
      });
      return outcomes;
    } catch (again) {
      failure = again;
    }
  }
}

/** After a lost reply, a lease that is gone before its end was ended by us; later it cannot be known who did. */
function judge(item: Unsettled<Receipt>, settlement: Settlement, clock: Clock): Settlement {
  if (settlement !== "lease-lost" || !item.uncertain) return settlement;
  return clock.now() + clockMargin < item.receipt.leaseUntil ? "settled" : "outcome-unknown";
}

function isSettlement(value: unknown): value is Settlement {
  return value === "settled" || value === "lease-lost" || value === "outcome-unknown";
}

function withoutResults(error: PunctualError): PunctualError {
  if (!("results" in error.details)) return error;
  const { results: _, ...details } = error.details;
  return sameFailure(error, details);
}
