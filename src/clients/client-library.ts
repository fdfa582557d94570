import type { ConnectionOptions } from "node:tls";
import { PunctualError } from "../errors.js";
import { type IORedisLibrary, ioredisAt, loadIORedis } from "./ioredis.js";
import { loadNodeRedis, type NodeRedisLibrary, nodeRedisAt } from "./node-redis.js";
import type { Connector } from "./port.js";
import type { RedisAddress } from "./redis-url.js";

/** The client libraries, by the names under which one is asked for. */
export const clientLibraries = ["node-redis", "ioredis"] as const;

/** A client library. */
export type ClientLibrary = (typeof clientLibraries)[number];

interface Loaders {
  readonly nodeRedis: () => Promise<NodeRedisLibrary>;
  readonly ioredis: () => Promise<IORedisLibrary>;
}

/**
 * Connects to an address with a library; when none is asked for, with the one that is installed, node-redis before ioredis.
 * When it is not there, connecting fails with a `PunctualError` `misconfigured` that says what to install.
 */
export function connectorAt(
  address: RedisAddress,
  tls: ConnectionOptions | undefined,
  library: ClientLibrary | undefined,
  { nodeRedis, ioredis }: Loaders = { nodeRedis: loadNodeRedis, ioredis: loadIORedis },
): Connector {
  const first = nodeRedisAt(address, tls, nodeRedis);
  const second = ioredisAt(address, tls, ioredis);
  if (library !== undefined) return library === "node-redis" ? first : second;
  let chosen: Promise<Connector> | undefined;
  const choose = async () => {
    try {
      await nodeRedis();
      return first;
    } catch (missing) {
      if (!isMissing(missing)) throw missing;
      try {
        await ioredis();
        return second;
      } catch (alsoMissing) {
        throw isMissing(alsoMissing) ? nothingInstalled(missing) : alsoMissing;
      }
    }
  };
  const chosenOne = () => {
    // What was missing may be installed when the next attempt is made.
    chosen ??= choose().catch((error: unknown) => {
      chosen = undefined;
      throw error;
    });
    return chosen;
  };
  return {
    target: address.target,
    load: chosenOne,
    connect: async (connectTimeout) => (await chosenOne()).connect(connectTimeout),
  };
}

/** One that is there and broken is told, and not passed over. Node has a code for `import` and another for `require`. */
function isMissing(error: unknown): boolean {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return cause instanceof Error && "code" in cause && /^(ERR_)?MODULE_NOT_FOUND$/.test(String(cause.code));
}

function nothingInstalled(cause: unknown): PunctualError {
  return new PunctualError(
    "misconfigured",
    "An engine on Redis needs a client library, and there is none: run `npm install @redis/client`, or `npm install ioredis`.",
    { cause },
  );
}
