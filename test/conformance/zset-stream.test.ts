import { zsetStreamEngine } from "../../src/engines/zset-stream/engine.js";
import { conformanceOnRedis } from "../support/redis-conformance.js";

conformanceOnRedis({
  name: "zset-stream",
  engine: (url) => zsetStreamEngine({ url }),
  deviations: {},
  timeout: 15_000,
});
