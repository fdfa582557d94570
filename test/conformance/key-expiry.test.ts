import { keyExpiryEngine } from "../../src/engines/key-expiry/engine.js";
import { because, cannot, firstOf } from "../support/deviations.js";
import { conformanceOnRedis } from "../support/redis-conformance.js";
import { forgetting, forgotten, noDeadLetters, withoutDeadLetters } from "./at-most-once.js";
import { needing } from "./groups/needing.js";

const noIndex =
  "each message is a key of its own and in no index that is sure, so one that is astray is found only among all keys of the server";

const deviations = firstOf(
  forgetting,
  because(forgotten, needing("ended leases")),
  cannot(
    "audit or repair",
    noIndex,
    needing("audit", "cancel"),
    needing("audit", "reschedule"),
    needing("audit", "replace"),
    needing("repair"),
  ),
  cannot(
    "revive or remove dead letters",
    "it keeps none; what is given up is told and counted",
    needing("get", "revive"),
    needing("get", "remove"),
  ),
  withoutDeadLetters,
  cannot("list", "it keeps messages in no order", needing("list")),
  cannot("audit", noIndex, needing("audit")),
  because(noDeadLetters, needing("dead letters"), needing("handed back")),
  because("it keeps no errors of handlers", needing("errors")),
  because("only the process that works on a message knows that it is there", needing("leased elsewhere")),
  because("it asks for messages in the order in which it hears of them, or a sweep finds them", needing("due order")),
  because("Redis tells of a message when it has found its key expired, not before", needing("waking to the ms")),
);

conformanceOnRedis({
  name: "key-expiry",
  engine: (url, bounds) => keyExpiryEngine({ url, ...bounds }),
  // How late Redis finds expired keys depends on how many keys of its database expire at all.
  ownDatabases: true,
  forgets: true,
  deviations,
});
