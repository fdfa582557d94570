import { zsetListEngine } from "../../src/engines/zset-list/engine.js";
import { conformanceOnRedis } from "../support/redis-conformance.js";
import { atMostOnce } from "./at-most-once.js";

conformanceOnRedis({
  name: "zset-list",
  engine: (url, bounds) => zsetListEngine({ url, ...bounds }),
  forgets: true,
  deviations: atMostOnce,
});
