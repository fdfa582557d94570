import type { Reply } from "../clients/port.js";
import { asArray, asNumber, asRows, asWord } from "./reply.js";

/** Reads the reply {now, how many ids were looked at, {place, kind, …}} of audit-check: what is wrong with each of them. */
export function mismatchesOf<Kind extends string>(reply: Reply, kinds: readonly Kind[]): Kind[][] {
  const [, done, found] = asArray(reply, "audit-check");
  const answers: Kind[][] = Array.from({ length: asNumber(done, "audit-check: done") }, () => []);
  for (const [place, kind] of asRows(found, 2, "audit-check: found")) {
    answers[asNumber(place, "audit-check: place") - 1]?.push(asWord(kind, kinds, "audit-check: kind"));
  }
  return answers;
}
