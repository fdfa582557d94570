import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { type RedisServer, startRedisServer } from "../testing/redis-server.js";
import { loadNodeRedis, nodeRedisAt } from "./node-redis.js";
import { addressOf } from "./redis-url.js";

let server: RedisServer;
beforeAll(async () => {
  server = await startRedisServer();
});
afterAll(() => server[Symbol.asyncDispose]());

it("All connections share one class of commands, which takes the library tens of ms to make", async () => {
  const library = await loadNodeRedis();
  const createClient = vi.fn<typeof library.createClient>(library.createClient);
  const counted = { createClient };
  const connectors = [`unix://${server.socketPath}`, server.url, `${server.url}/3`].map((url) =>
    nodeRedisAt(addressOf({ url }), undefined, async () => counted),
  );
  for (const { connect } of [...connectors, ...connectors]) {
    const connection = await connect(1_000);
    expect(await connection.send(["PING"])).toEqual(Buffer.from("PONG"));
    connection.destroy();
  }
  expect(createClient).toHaveBeenCalledTimes(1);
});
