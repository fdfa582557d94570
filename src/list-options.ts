import { isDate } from "node:util/types";
import { latestTime } from "./duration.js";
import type { ListQuery, MessageState } from "./engine.js";
import { invalidValue } from "./invalid-argument.js";
import { checkOptionNames } from "./option-names.js";
import { checkWholeNumber } from "./whole-number.js";

/** Which messages to list. */
export interface ListOptions {
  /** Which state they are in. Default `"scheduled"`, which are those that are not due yet. */
  state?: MessageState | undefined;
  /** The earliest due time that is wanted, itself included; of dead letters the time of burial. Default: any. */
  from?: Date | number | undefined;
  /** The latest, itself included. Default: any. */
  to?: Date | number | undefined;
  /** Messages at most on this page, 1 to 1,000. Default 100. */
  limit?: number | undefined;
  /** The cursor of the page before. Default: the first page. */
  cursor?: string | undefined;
}

/** A page of a list. */
export interface Page<Item> {
  readonly messages: Item[];
  /** Where the next page starts; `undefined` when there are no more. A page may have fewer messages than asked for. */
  readonly cursor: string | undefined;
}

const optionNames = new Set(["state", "from", "to", "limit", "cursor"]);
const states: readonly unknown[] = ["scheduled", "due", "leased", "dead"] satisfies MessageState[];

/** Checks options and fills in the defaults. Throws `invalid-argument`. */
export function readListOptions(options: ListOptions): ListQuery {
  checkOptionNames(options, optionNames, "query");
  const { state = "scheduled", from, to, limit = 100, cursor } = options;
  if (!states.includes(state)) throw invalidValue("state", state, '"scheduled", "due", "leased" or "dead"');
  if (cursor !== undefined && (typeof cursor !== "string" || cursor === "")) {
    throw invalidValue("cursor", cursor, "the cursor of the page before");
  }
  return {
    state,
    from: time(from, "from"),
    to: time(to, "to"),
    limit: checkWholeNumber(limit, "limit", 1, 1_000),
    cursor,
  };
}

function time(value: unknown, argument: string): number | undefined {
  if (value === undefined) return undefined;
  const ms = isDate(value) ? value.getTime() : value;
  if (typeof ms === "number" && Math.abs(ms) <= latestTime) return ms;
  throw invalidValue(argument, value, "a Date or a number of Unix ms, at the latest 8.64e15");
}
