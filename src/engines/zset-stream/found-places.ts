import type { Place } from "../../scripting/list-place.js";

/** A message that was found, and its place. */
export interface Found extends Place {
  readonly id: string;
}

/** Which part of the order a call is to find. */
export interface PartQuery {
  /** Times in whole ms, themselves included. */
  readonly from: number;
  readonly to: number;
  /** Messages at most. */
  readonly limit: number;
  /** Behind which place it begins. */
  readonly after: Place | undefined;
}

/** What one call found, in order, and behind which place to go on; `undefined` when there are no more. */
export interface FoundPart {
  readonly found: readonly Found[];
  readonly next: Place | undefined;
}

export function comparePlaces(a: Place, b: Place): number {
  return a.time - b.time || a.tail.compare(b.tail);
}
