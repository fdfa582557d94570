import { redisEngine } from "../../src/engines/redis/engine.js";
import { conformanceOnRedis } from "../support/redis-conformance.js";
import { valkeyServer } from "../support/valkey.js";

const binary = valkeyServer();
if (binary === undefined) console.error("No valkey-server 8 here: the cases of Valkey are left out (`npm run setup`).");

conformanceOnRedis({
  name: "redis on valkey",
  engine: (url, bounds) => redisEngine({ url, ...bounds }),
  server: { binary },
  leftOut: binary === undefined,
});
