import { describe, expect, it, vi } from "vitest";
import { withRedis } from "../../test/support/with-redis.js";
import { PunctualError } from "../errors.js";
import { connectorAt } from "./client-library.js";
import { type IORedisLibrary, loadIORedis } from "./ioredis.js";
import { loadNodeRedis, type NodeRedisLibrary } from "./node-redis.js";
import { addressOf } from "./redis-url.js";

const redis = withRedis();

/** What Node says of a package that is not there, as the loaders wrap it. */
const missing = (code = "ERR_MODULE_NOT_FOUND") => {
  const cause = Object.assign(new Error("Cannot find package"), { code });
  return vi.fn<() => Promise<never>>(() => Promise.reject(new PunctualError("misconfigured", "not there", { cause })));
};
const nodeRedisThere = () => vi.fn<() => Promise<NodeRedisLibrary>>(loadNodeRedis);
const ioredisThere = () => vi.fn<() => Promise<IORedisLibrary>>(loadIORedis);

const answer = async (connector: ReturnType<typeof connectorAt>) => {
  const connection = await connector.connect(1_000);
  const reply = await connection.send(["PING"]);
  connection.destroy();
  return String(reply);
};

describe("without a word on the library", () => {
  const at = (loaders: Parameters<typeof connectorAt>[3]) =>
    connectorAt(addressOf({ url: redis.url }), undefined, undefined, loaders);

  it("node-redis is taken when both are there, and ioredis is not even loaded", async () => {
    const loaders = { nodeRedis: nodeRedisThere(), ioredis: ioredisThere() };
    expect(await answer(at(loaders))).toBe("PONG");
    expect(loaders.nodeRedis).toHaveBeenCalled();
    expect(loaders.ioredis).not.toHaveBeenCalled();
  });

  it.each(["ERR_MODULE_NOT_FOUND", "MODULE_NOT_FOUND"])(
    "ioredis is taken when node-redis is not there (%s)",
    async (code) => {
      const loaders = { nodeRedis: missing(code), ioredis: ioredisThere() };
      const connector = at(loaders);
      expect(await answer(connector)).toBe("PONG");
      expect(await answer(connector)).toBe("PONG");
      expect(loaders.nodeRedis).toHaveBeenCalledTimes(1);
    },
  );

  it("an error says what to install when neither is there, and what is installed meanwhile is taken", async () => {
    const nodeRedis = nodeRedisThere().mockImplementationOnce(missing());
    const connector = at({ nodeRedis, ioredis: missing() });
    await expect(connector.connect(1_000)).rejects.toMatchObject({
      name: "PunctualError",
      code: "misconfigured",
      message:
        "An engine on Redis needs a client library, and there is none: run `npm install @redis/client`, or `npm install ioredis`.",
    });
    expect(await answer(connector)).toBe("PONG");
  });

  it("a node-redis that is there and broken is told, not passed over", async () => {
    const broken = Object.assign(new Error("Unexpected token"), { code: "ERR_SYNTAX" });
    const nodeRedis = () => Promise.reject(new PunctualError("misconfigured", "broken", { cause: broken }));
    await expect(at({ nodeRedis, ioredis: ioredisThere() }).connect(1_000)).rejects.toMatchObject({ cause: broken });
  });
});

describe("with a library that is named", () => {
  it.each([
    ["node-redis", "nodeRedis", "ioredis"],
    ["ioredis", "ioredis", "nodeRedis"],
  ] as const)("%s alone is loaded", async (library, named, other) => {
    const loaders = { nodeRedis: nodeRedisThere(), ioredis: ioredisThere() };
    expect(await answer(connectorAt(addressOf({ url: redis.url }), undefined, library, loaders))).toBe("PONG");
    expect(loaders[named]).toHaveBeenCalled();
    expect(loaders[other]).not.toHaveBeenCalled();
  });

  it("another one is no substitute", async () => {
    const loaders = { nodeRedis: nodeRedisThere(), ioredis: missing() };
    const connector = connectorAt(addressOf({ url: redis.url }), undefined, "ioredis", loaders);
    await expect(connector.connect(1_000)).rejects.toMatchObject({ code: "misconfigured" });
  });
});
