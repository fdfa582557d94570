import { zsetListEngine } from "../../src/engines/zset-list/engine.js";
import { conformanceOnRedis } from "../support/redis-conformance.js";

conformanceOnRedis({
  name: "zset-list reliable",
  engine: (url) => zsetListEngine({ url, reliable: true }),
  deviations: {},
  timeout: 40_000,
});
