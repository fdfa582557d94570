import { zsetStreamEngine } from "../../src/engines/zset-stream/engine.js";
import { conformanceOnRedis } from "../support/redis-conformance.js";

conformanceOnRedis({
  name: "zset-stream",
  engine: (url) => zsetStreamEngine({ url }),
  bounded: (url, deadLetters) => zsetStreamEngine({ url, deadLetters }),
  timeout: 40_000,
});
