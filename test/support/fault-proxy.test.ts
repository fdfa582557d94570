import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { nodeRedis } from "../../src/clients/node-redis.js";
import type { Connection } from "../../src/clients/port.js";
import { type RedisServer, startRedisServer } from "../../src/testing/redis-server.js";
import { FaultProxy, isCommand, runs } from "./fault-proxy.js";
import { type RawRedis, rawRedis } from "./raw-redis.js";

let server: RedisServer;
let direct: RawRedis;
let proxy: FaultProxy;
const connections: Connection[] = [];

beforeAll(async () => {
  server = await startRedisServer();
  direct = await rawRedis(server.url);
});
afterAll(async () => {
  direct.close();
  await server.stop();
});
beforeEach(async () => {
  await direct.command("FLUSHALL");
  proxy = await FaultProxy.start(server.port);
});
afterEach(async () => {
  for (const connection of connections.splice(0)) connection.destroy();
  await proxy[Symbol.asyncDispose]();
});

const connect = async () => {
  const connection = await nodeRedis({ url: proxy.url }).connect(1_000);
  connections.push(connection);
  return connection;
};
const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (failure: unknown) => failure,
  );
const stored = () => direct.text("GET", "n");

describe("the fault proxy", () => {
  it("passes requests, replies and published messages through", async () => {
    const connection = await connect();
    const heard: string[] = [];
    await connection.subscribe("c", (message) => heard.push(String(message)));
    expect(await connection.send(["SET", "n", Buffer.from([0, 13, 10, 255])])).toEqual(Buffer.from("OK"));
    expect(await connection.send(["GET", "n"])).toEqual(Buffer.from([0, 13, 10, 255]));
    expect(await connection.send(["MGET", "n", "none"])).toEqual([Buffer.from([0, 13, 10, 255]), null]);
    await connection.send(["PUBLISH", "c", "hello"]);
    expect(heard).toEqual(["hello"]);
  });

  it("passes large requests and replies through in the order of many at once", async () => {
    const connection = await connect();
    const large = Buffer.alloc(3_000_000, "x\r\n");
    const [, first, read, second] = await Promise.all([
      connection.send(["SET", "n", large]),
      connection.send(["INCR", "m"]),
      connection.send(["GET", "n"]),
      connection.send(["INCR", "m"]),
    ]);
    expect([first, second]).toEqual([1, 2]);
    expect(Buffer.isBuffer(read) && read.equals(large)).toBe(true);
  });

  it("cuts before the nth request, which the server then never sees", async () => {
    const connection = await connect();
    const { happened } = proxy.plan("cut-before-request", isCommand("INCR"), 2);
    await connection.send(["INCR", "n"]);
    await expect(connection.send(["INCR", "n"])).rejects.toMatchObject({ outcome: "unknown" });
    expect((await happened).args.map(String)).toEqual(["n"]);
    expect(await stored()).toBe("1");
  });

  it.each(["cut-before-reply", "cut-inside-reply"] as const)("%s: the server runs the request", async (fault) => {
    const connection = await connect();
    const { happened, reply } = proxy.plan(fault, isCommand("INCR"));
    await expect(connection.send(["INCR", "n"])).rejects.toMatchObject({ outcome: "unknown" });
    await happened;
    expect(String(await reply)).toBe("1");
    expect(await stored()).toBe("1");
  });

  it("strikes nothing any more that was withdrawn", async () => {
    const connection = await connect();
    const { withdraw } = proxy.plan("cut-before-request", isCommand("INCR"), 2);
    await connection.send(["INCR", "n"]);
    withdraw();
    await connection.send(["INCR", "n"]);
    expect(await stored()).toBe("2");
  });

  it("knows requests by the script that they run", async () => {
    const connection = await connect();
    const sha1 = String(await connection.send(["SCRIPT", "LOAD", "return redis.call('INCR', KEYS[1])"]));
    proxy.plan("cut-before-request", runs({ sha1 }));
    await connection.send(["INCR", "n"]);
    await expect(connection.send(["EVALSHA", sha1, "1", "n"])).rejects.toMatchObject({ outcome: "unknown" });
    expect(await stored()).toBe("1");
  });

  it("holds a request back and delivers it after its client has gone", async () => {
    const connection = await connect();
    const held = proxy.plan("hold", isCommand("INCR"));
    const lost = failureOf(connection.send(["INCR", "n"]));
    const behind = failureOf(connection.send(["SET", "m", "1"]));
    await held.happened;
    connection.destroy();
    expect(await lost).toMatchObject({ outcome: "unknown" });
    expect(await behind).toMatchObject({ outcome: "unknown" });
    expect(await stored()).toBeNull();
    held.release();
    expect(String(await held.reply)).toBe("1");
    await expect.poll(() => direct.text("GET", "m")).toBe("1");
  });

  it("swallows everything in a black hole; new connections work after it has healed, old ones do not", async () => {
    const connection = await connect();
    const lost = vi.fn<(cause: Error) => void>();
    connection.onLost(lost);
    proxy.blackHole();
    const swallowed = failureOf(connection.send(["INCR", "n"]));
    await expect(nodeRedis({ url: proxy.url }).connect(100)).rejects.toMatchObject({ outcome: "not-sent" });
    proxy.heal();
    expect(await (await connect()).send(["INCR", "n"])).toBe(1);
    expect(lost).not.toHaveBeenCalled();
    connection.destroy();
    expect(await swallowed).toMatchObject({ outcome: "unknown" });
    expect(await stored()).toBe("1");
  });

  it("delivers what was stalled after it has healed", async () => {
    const connection = await connect();
    proxy.stall();
    const reply = connection.send(["INCR", "n"]);
    await direct.command("PING");
    expect(await stored()).toBeNull();
    proxy.heal();
    expect(await reply).toBe(1);
  });

  it("makes both ways later by a delay", async () => {
    const connection = await connect();
    proxy.delay(40);
    const sentAt = performance.now();
    await connection.send(["PING"]);
    expect(performance.now() - sentAt).toBeGreaterThanOrEqual(79);
  });

  it("sends byte by byte", async () => {
    const connection = await connect();
    proxy.byteByByte();
    expect(await connection.send(["ECHO", "some\r\nbytes"])).toEqual(Buffer.from("some\r\nbytes"));
  });

  it("refuses connections until it has healed", async () => {
    proxy.refuse();
    await expect(connect()).rejects.toMatchObject({ outcome: "not-sent" });
    proxy.heal();
    await connect();
    expect(proxy.accepted).toBe(1);
  });

  it("cuts only the subscriber", async () => {
    const [subscriber, other] = [await connect(), await connect()];
    await subscriber.subscribe("c", () => {});
    const lost = new Promise((resolve) => subscriber.onLost(resolve));
    proxy.cut("SUBSCRIBE");
    await lost;
    expect(await other.send(["PING"])).toEqual(Buffer.from("PONG"));
  });
});
