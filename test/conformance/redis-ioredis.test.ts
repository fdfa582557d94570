import { redisEngine } from "../../src/engines/redis/engine.js";
import { conformanceOnRedis } from "../support/redis-conformance.js";

conformanceOnRedis({
  name: "redis on ioredis",
  engine: (url) => redisEngine({ url, library: "ioredis" }),
  bounded: (url, deadLetters) => redisEngine({ url, library: "ioredis", deadLetters }),
});
