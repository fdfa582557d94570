import type { Engine } from "../../src/engine.js";
import { delayqueueEngine } from "../../src/engines/delayqueue/engine.js";
import { keyExpiryEngine } from "../../src/engines/key-expiry/engine.js";
import { zsetListEngine } from "../../src/engines/zset-list/engine.js";
import { zsetRemoveEngine } from "../../src/engines/zset-remove/engine.js";
import { zsetStreamEngine } from "../../src/engines/zset-stream/engine.js";
import { zsetWatchEngine } from "../../src/engines/zset-watch/engine.js";
import type { OpenHarness } from "../harness.js";
import type { SchemeName } from "../scheme-names.js";
import { harnessOn } from "./punctual.js";

const engines: Readonly<Record<SchemeName, (options: { url: string }) => Engine>> = {
  delayqueue: delayqueueEngine,
  "key-expiry": keyExpiryEngine,
  "zset-list": zsetListEngine,
  "zset-remove": zsetRemoveEngine,
  "zset-stream": zsetStreamEngine,
  "zset-watch": zsetWatchEngine,
};

/** The schemes of articles, behind the queue and the consumer of punctual. */
export function openScheme(name: SchemeName): OpenHarness {
  return async ({ url, queue }) => harnessOn(engines[name]({ url }), queue);
}
