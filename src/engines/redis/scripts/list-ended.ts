import { asArray, asBytes, asRows } from "../../../scripting/reply.js";
import { defineScript, type Evaluator } from "../../../scripting/script.js";
import type { QueueKeys } from "../keys.js";
import { sequenceLength } from "../../../scripting/message-body.js";
import type { Place } from "../../../scripting/list-place.js";
import { sources } from "./sources.generated.js";

const script = defineScript("list-ended", sources["list-ended"], {
  keys: ["leases", "leased", "failures", "state"],
  harmlessWhenLate: true,
});

/** Leases that one call looks at. */
const leasesPerCall = 500;

/** A place behind all messages of one ms. */
const endOfMs = Buffer.alloc(sequenceLength, 0xff);

interface Ended {
  readonly id: Buffer;
  readonly sequence: Buffer;
}

/** Of the messages whose leases ended in one ms those that come first, and up to which sequence number they are all. */
export interface FirstEnded {
  readonly time: number;
  readonly ended: readonly Ended[];
  readonly upTo: Buffer;
}

/** A part of them: so many behind a place, and up to which sequence number these are all. */
export function firstOf(
  { ended, upTo }: FirstEnded,
  { tail }: Place,
  limit: number,
): { readonly ids: readonly Buffer[]; readonly upTo: Buffer } {
  const rest = ended.filter(({ sequence }) => sequence.compare(tail) > 0);
  const some = rest.slice(0, limit);
  const last = some.length < rest.length ? some.at(-1)?.sequence : undefined;
  return { ids: some.map(({ id }) => id), upTo: last ?? upTo };
}

/**
 * The first messages behind a place, in the order in which they were scheduled, of those whose leases ended in its ms. All of
 * that ms are looked at, part by part, since no index has them in that order. They only get fewer meanwhile: a lease that is
 * given now does not end in a ms that has passed; and what is reclaimed keeps its place, in another index.
 */
export async function firstEnded(
  evaluator: Evaluator,
  keys: QueueKeys,
  { time, tail }: Place,
  limit: number,
): Promise<FirstEnded> {
  let first: Ended[] = [];
  let more = false;
  let after: Buffer = Buffer.alloc(0);
  do {
    const args = [String(time), String(leasesPerCall), after];
    const { reply } = await evaluator.evaluate(script, script.keysIn(keys), args);
    const [, rows, last] = asArray(reply, "list-ended");
    for (const row of asRows(rows, 2, "list-ended: leases")) {
      const id = asBytes(row[0], "list-ended: id");
      const sequence = asBytes(row[1], "list-ended: sequence");
      if (sequence.compare(tail) > 0) first.push({ id, sequence });
    }
    more ||= first.length > limit;
    first = first.toSorted((a, b) => a.sequence.compare(b.sequence)).slice(0, limit);
    after = asBytes(last, "list-ended: place");
  } while (after.length > 0);
  const upTo = more ? first.at(-1)?.sequence : undefined;
  return { time, ended: first, upTo: upTo ?? endOfMs };
}
