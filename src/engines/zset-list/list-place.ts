import type { Place } from "../../scripting/list-place.js";

/** The place of a message. */
export interface ListPlace extends Place {
  readonly id: string;
}

/** Which places are wanted. */
export interface PlaceQuery {
  /** Times in whole ms, themselves included. */
  readonly from: number;
  readonly to: number;
  /** Places at most. */
  readonly limit: number;
  readonly after: Place | undefined;
}

export interface PlacePage {
  readonly places: readonly ListPlace[];
  /** Whether there are places behind these. */
  readonly more: boolean;
}
