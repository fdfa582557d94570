import type { ListPlace, Place } from "../../scripting/list-place.js";

/** What one call found, in order, and behind which place to go on; `undefined` when there are no more. */
export interface FoundPart {
  readonly found: readonly ListPlace[];
  readonly next: Place | undefined;
}
