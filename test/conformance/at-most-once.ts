import { because, cannot, type Deviations, firstOf } from "../support/deviations.js";
import { needing } from "./groups/needing.js";

export const forgotten = "it forgets what is not settled in its lease, as it forgets what a process held that died";

/** What an engine deviates in that takes messages out to deliver them. */
export const forgetting: Deviations = firstOf(
  because(forgotten, needing("reclaim")),
  cannot("schedule with rememberFor", "it forgets an id with its message", needing("rememberFor")),
);

export const noDeadLetters = "it keeps no dead letters, and what is given up is told and counted";

/** What an engine deviates in that keeps no dead letters. */
export const withoutDeadLetters: Deviations = firstOf(
  cannot(
    "revive, remove or purge dead letters",
    "it keeps none; what is given up is told and counted",
    needing("revive"),
    needing("remove"),
    needing("purge of dead letters"),
  ),
  cannot("bury with deadLetters", "it keeps no dead letters", needing("bounds")),
  because(noDeadLetters, needing("counts of dead")),
);

const byBytes = "it finds a message by all of its bytes, which nobody knows who has only its id";

/**
 * What an engine deviates in that keeps whole messages as members of a zset, and takes them out to deliver them: at most once,
 * whatever way it takes them.
 */
export const atMostOnce: Deviations = firstOf(
  forgetting,
  because(
    "it has messages of one due time in the order of their bytes, not in that of scheduling",
    needing("order of scheduling"),
  ),
  because(
    "it takes two messages of one id for the same only when all of their bytes are",
    needing("duplicates that differ"),
  ),
  cannot("cancel", byBytes, needing("cancel"), needing("cancel of nothing")),
  cannot("reschedule", byBytes, needing("reschedule")),
  cannot("schedule as a replacement", byBytes, needing("replace")),
  cannot("get", byBytes, needing("get")),
  withoutDeadLetters,
  cannot(
    "list",
    "a place among messages of one due time is named by a whole message, too much for a cursor",
    needing("list"),
  ),
  cannot("audit", "it keeps each message in one place, so there is nothing to hold against it", needing("audit")),
);
