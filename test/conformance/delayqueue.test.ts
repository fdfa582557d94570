import { delayqueueEngine } from "../../src/engines/delayqueue/engine.js";
import { conformanceOnRedis } from "../support/redis-conformance.js";

conformanceOnRedis({
  name: "delayqueue",
  engine: (url) => delayqueueEngine({ url }),
  deviations: {},
  timeout: 15_000,
});
