import { delayqueueEngine } from "../../src/engines/delayqueue/engine.js";
import { because, cannot, firstOf } from "../support/deviations.js";
import { conformanceOnRedis } from "../support/redis-conformance.js";
import { needing } from "./groups/needing.js";

const keepsNone = "it keeps no dead letters: its format has none, and a message without retries is deleted and told";
const noDeadLetters = "its format has none: a message without retries is deleted";
const keysOfRedis =
  "its payloads are keys of their own, and to find one without an entry is to look at every key of Redis";

conformanceOnRedis({
  name: "delayqueue",
  engine: (url, bounds) => delayqueueEngine({ url, ...bounds }),
  deviations: firstOf(
    because(keepsNone, needing("dead letters"), needing("counts of dead")),
    cannot("bury with deadLetters", "its format has no dead letters", needing("bounds")),
    cannot(
      "schedule with rememberFor",
      "programs of the Go library forget an id with its message",
      needing("rememberFor"),
    ),
    cannot("revive", noDeadLetters, needing("revive")),
    cannot("remove dead letters", noDeadLetters, needing("remove")),
    cannot("purge dead letters", noDeadLetters, needing("purge of dead letters")),
    because(
      "it has room for about 4,190 messages in one ms: what is scheduled beyond is due 1 ms later",
      needing("thousands in one ms"),
    ),
    because(
      "it orders equal due times by when they were given, since its format has no place for when a message was scheduled",
      needing("place kept"),
    ),
    because(
      "it lists leased messages by when their leases end, the only order that its format has for them",
      "Order: leased messages are listed by the time at which they were due, whenever their leases end",
    ),
    because(
      "it cannot tell a message that is scheduled while a purge runs from one that was there",
      needing("purge as of now"),
    ),
    cannot("audit", keysOfRedis, needing("audit")),
    cannot("repair", keysOfRedis, needing("repair")),
    because(
      "it looks once a second for what programs of the Go library wrote, since those wake nobody",
      needing("idle"),
    ),
  ),
});
