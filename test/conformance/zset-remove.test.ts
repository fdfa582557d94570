import { zsetRemoveEngine } from "../../src/engines/zset-remove/engine.js";
import { conformanceOnRedis } from "../support/redis-conformance.js";
import { atMostOnce } from "./at-most-once.js";

conformanceOnRedis({
  name: "zset-remove",
  engine: (url, bounds) => zsetRemoveEngine({ url, ...bounds }),
  forgets: true,
  deviations: atMostOnce,
  timeout: 60_000,
});
