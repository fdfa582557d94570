import { zsetRemoveEngine } from "../../src/engines/zset-remove/engine.js";
import { because, firstOf } from "../support/deviations.js";
import { conformanceOnRedis } from "../support/redis-conformance.js";
import { atMostOnce } from "./at-most-once.js";
import { needing } from "./groups/needing.js";

conformanceOnRedis({
  name: "zset-remove",
  engine: (url, bounds) => zsetRemoveEngine({ url, ...bounds }),
  forgets: true,
  deviations: firstOf(
    because(
      "it has messages of one due time in the order of their bytes, and with several processes those that are due in none: a consumer that lost a race takes from somewhere among them",
      needing("order of scheduling"),
    ),
    atMostOnce,
  ),
});
