import type { CommandArgument, Reply } from "../../../clients/port.js";
import type { DeadLetterBounds } from "../../../dead-letter-bounds.js";
import type { OpenOptions } from "../../../engine.js";
import { asArray, asNumber, asText } from "../../../scripting/reply.js";

/** The bounds within which a script that buries keeps the dead letters, and who hears of those that fall out. */
export interface Bounded extends DeadLetterBounds, Pick<OpenOptions, "onDropped"> {}

export const unbounded: Bounded = { max: undefined, maxAge: undefined };

/** As such scripts take them: mostDead deadFor, empty where there is no bound. */
export function boundArgs({ max, maxAge }: DeadLetterBounds): CommandArgument[] {
  return [max === undefined ? "" : String(max), maxAge === undefined ? "" : String(maxAge)];
}

/** Passes on what such scripts answer at the end of their replies: the ids that fell out, and how many have so far. */
export function tellDropped(
  { onDropped }: Bounded,
  [dropped, total]: readonly (Reply | undefined)[],
  where: string,
): void {
  const ids = asArray(dropped, `${where}: dropped`).map((id) => asText(id, `${where}: dropped id`));
  if (ids.length > 0) onDropped?.({ ids, total: asNumber(total, `${where}: dropped total`) });
}
