import { zsetListEngine } from "../../src/engines/zset-list/engine.js";
import { conformanceOnRedis } from "../support/redis-conformance.js";

conformanceOnRedis({
  name: "zset-list",
  engine: (url) => zsetListEngine({ url }),
  deviations: {},
  timeout: 40_000,
});
