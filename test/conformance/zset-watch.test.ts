import { zsetWatchEngine } from "../../src/engines/zset-watch/engine.js";
import { conformanceOnRedis } from "../support/redis-conformance.js";
import { atMostOnce } from "./at-most-once.js";

conformanceOnRedis({
  name: "zset-watch",
  engine: (url, bounds) => zsetWatchEngine({ url, ...bounds }),
  forgets: true,
  deviations: atMostOnce,
});
