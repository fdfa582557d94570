import { expect, it } from "vitest";
import { delayqueueEngine } from "../engines/delayqueue/engine.js";
import { zsetListEngine } from "../engines/zset-list/engine.js";
import { zsetRemoveEngine } from "../engines/zset-remove/engine.js";
import { zsetStreamEngine } from "../engines/zset-stream/engine.js";
import { zsetWatchEngine } from "../engines/zset-watch/engine.js";

it.each([
  ["zset-remove", zsetRemoveEngine],
  ["zset-watch", zsetWatchEngine],
  ["zset-list", zsetListEngine],
  ["zset-stream", zsetStreamEngine],
  ["delayqueue", delayqueueEngine],
] as const)(
  "The engine %s refuses the nodes of a Cluster when it is made, and says which engine takes them",
  (name, make) => {
    const nodes = ["redis://user:secret@127.0.0.1:1", "redis://127.0.0.1:2"];
    const refusal = expect.objectContaining({
      code: "invalid-argument",
      message: `nodes is given, and the engine ${name} does not connect to a Cluster; accepted is url or client, or the engine redis.`,
      details: { argument: "nodes" },
    });
    expect(() => make({ nodes })).toThrow(refusal);
  },
);
