import type { Taken } from "../../schemes/holdings.js";
import { decodeMember } from "../../schemes/member.js";

/** What stands in front of a message: its due time, and when and where in its call it was scheduled: as in snippets/timers.lua. */
const head = 18;

/** Reads a message as it is stored. */
export function decodeStored(value: Buffer): Taken {
  return { member: decodeMember(value.subarray(head)), dueAt: value.readDoubleBE(0) };
}
