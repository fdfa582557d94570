import { zsetListEngine } from "../../src/engines/zset-list/engine.js";
import { cannot } from "../support/deviations.js";
import { conformanceOnRedis } from "../support/redis-conformance.js";

conformanceOnRedis({
  name: "zset-list reliable",
  engine: (url, bounds) => zsetListEngine({ url, reliable: true, ...bounds }),
  deviations: cannot("bury with deadLetters", "it keeps all dead letters until they are removed or purged", [
    "Dead letters over the bound of the engine fall out, the oldest first, and whoever buried is told",
    "Dead letters that are older than the engine keeps them fall out when another one comes, in whatever way",
    "Dead letters that are older than the engine keeps them fall out with the next claim, though none is buried",
    "A consumer tells which dead letters fell out of the bounds, and how many ever did",
  ]),
});
