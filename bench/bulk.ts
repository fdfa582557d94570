import type { Harness, Payload } from "./harness.js";

/** Messages in a call, and calls under way, so that client and server work at the same time. */
const batchSize = 1_000;
const inFlight = 4;

/** Hands over all payloads, a few batches at a time, and resolves when all are stored. */
export async function scheduleAll(harness: Harness, payloads: readonly Payload[]): Promise<void> {
  let next = 0;
  await inParallel(inFlight, async () => {
    while (next < payloads.length) {
      const first = next;
      next += batchSize;
      await harness.scheduleMany(payloads.slice(first, first + batchSize));
    }
  });
}

/** Hands over the same payloads again and again for so many ms; gives messages a second. */
export async function scheduleFor(harness: Harness, payloads: readonly Payload[], ms: number): Promise<number> {
  const batches = Array.from({ length: Math.ceil(payloads.length / batchSize) }, (_, at) =>
    payloads.slice(at * batchSize, (at + 1) * batchSize),
  );
  let next = 0;
  return ratePerSecond(inFlight, ms, async () => {
    const batch = batches[next++ % batches.length] ?? [];
    await harness.scheduleMany(batch);
    return batch.length;
  });
}

/** Repeats a call on so many strands for so many ms; gives how much the calls did in a second, in all. */
export async function ratePerSecond(strands: number, ms: number, call: () => Promise<number>): Promise<number> {
  const started = performance.now();
  let done = 0;
  await inParallel(strands, async () => {
    while (performance.now() - started < ms) {
      // Not in one expression: it would add to what `done` was before the others went on.
      const did = await call();
      done += did;
    }
  });
  return (1_000 * done) / (performance.now() - started);
}

async function inParallel(strands: number, strand: () => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: strands }, strand));
}
