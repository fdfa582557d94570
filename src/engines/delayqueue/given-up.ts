import type { Reply } from "../../clients/port.js";
import type { OpenOptions } from "../../engine.js";
import { asArray, asNumber, asText } from "../../scripting/reply.js";

/** Tells of messages that a script gave up, from {ids, how many of the queue were so far}. */
export function tellGivenUp([ids, total]: readonly Reply[], onDropped: OpenOptions["onDropped"], where: string): void {
  const given = asArray(ids, `${where}: given up`).map((id) => asText(id, `${where}: given up id`));
  if (given.length > 0) onDropped?.({ ids: given, total: asNumber(total, `${where}: total`) });
}
