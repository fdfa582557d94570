import { zsetStreamEngine } from "../../src/engines/zset-stream/engine.js";
import { conformanceOnRedis } from "../support/redis-conformance.js";

conformanceOnRedis({
  name: "zset-stream",
  engine: (url, bounds) => zsetStreamEngine({ url, ...bounds }),
});
