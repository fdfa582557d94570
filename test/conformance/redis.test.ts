import { redisEngine } from "../../src/engines/redis/engine.js";
import { conformanceOnRedis } from "../support/redis-conformance.js";

conformanceOnRedis({
  name: "redis",
  engine: (url, bounds) => redisEngine({ url, ...bounds }),
});
