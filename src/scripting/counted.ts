import type { Reply } from "../clients/port.js";
import type { Counts } from "../engine.js";
import { asNumber } from "./reply.js";

/** Reads how many messages are scheduled, due, leased and dead, and whether the queue is paused: 1 when it is. */
export function countsOf([scheduled, due, leased, dead, paused]: readonly Reply[]): Counts {
  return {
    scheduled: asNumber(scheduled, "counts: scheduled"),
    due: asNumber(due, "counts: due"),
    leased: asNumber(leased, "counts: leased"),
    dead: asNumber(dead, "counts: dead"),
    paused: asNumber(paused, "counts: paused") === 1,
  };
}
