import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { clientsToTest } from "../../test/support/clients-to-test.js";
import { type RedisServer, startRedisServer } from "../testing/redis-server.js";
import { ConnectionLife } from "./connection-life.js";
import type { Connection } from "./port.js";
import { addressOf } from "./redis-url.js";

let server: RedisServer;
const connections: Connection[] = [];

beforeAll(async () => {
  server = await startRedisServer({ args: ["--requirepass", "it's @ secret"] });
});
afterAll(() => server.stop());
afterEach(() => {
  vi.useRealTimers();
  for (const connection of connections.splice(0)) connection.destroy();
});

const withPassword = () => server.url.replace("//", `//:${encodeURIComponent("it's @ secret")}@`);
const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (failure: unknown) => failure,
  );
/** Until what was sent in this turn of the event loop has been written. */
const written = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

describe.each(clientsToTest)("a connection of $name", ({ connectorAt, oneSocket }) => {
  const connect = async (url = withPassword()) => {
    const connection = await connectorAt(addressOf({ url })).connect(1_000);
    connections.push(connection);
    return connection;
  };

  it.each([
    ["a password in the URL", () => ({ url: withPassword() })],
    ["a password beside the URL", () => ({ url: server.url, password: "it's @ secret" })],
    ["a user and a password", () => ({ url: server.url, username: "default", password: "it's @ secret" })],
    ["a unix socket", () => ({ url: `unix://:${encodeURIComponent("it's @ secret")}@${server.socketPath}` })],
  ])("connects with %s", async (_, options) => {
    const connection = await connectorAt(addressOf(options())).connect(1_000);
    connections.push(connection);
    expect(await connection.send(["PING"])).toEqual(Buffer.from("PONG"));
  });

  it("uses the database of the URL", async () => {
    const connection = await connect(`${withPassword()}/3`);
    expect(String(await connection.send(["CLIENT", "INFO"]))).toMatch(/ db=3 /);
  });

  it("sends and gives bytes, numbers, nil and arrays of them as they are", async () => {
    const connection = await connect();
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    const echo = "return {ARGV[1], ARGV[2], 7, -1, false, {'nested', {}}, redis.status_reply('fine')}";
    expect(await connection.send(["EVAL", echo, "0", bytes, "ä😀\0"])).toEqual([
      bytes,
      Buffer.from("ä😀\0"),
      7,
      -1,
      null,
      [Buffer.from("nested"), []],
      Buffer.from("fine"),
    ]);
  });

  it("gives the maps of RESP3 as arrays", async () => {
    const connection = await connect();
    expect(await connection.send(["CONFIG", "GET", "maxmemory"])).toEqual([Buffer.from("maxmemory"), Buffer.from("0")]);
  });

  it("gives replies in the order of the commands, refusals among them", async () => {
    const connection = await connect();
    const replies = await Promise.allSettled([
      connection.send(["ECHO", "a"]),
      connection.send(["EVALSHA", "0".repeat(40), "0"]),
      connection.send(["ECHO", "b"]),
    ]);
    expect(replies).toMatchObject([
      { value: Buffer.from("a") },
      { reason: { name: "CommandFailure", outcome: "refused", code: "NOSCRIPT" } },
      { value: Buffer.from("b") },
    ]);
  });

  it("hears channels, also after leaving and coming back at once", async () => {
    const connection = await connect();
    const heard: Buffer[] = [];
    // On one socket it has come before the reply to who has published it.
    const arrived = (count: number) => vi.waitUntil(() => heard.length === count);
    await connection.subscribe("c", (message) => heard.push(message));
    await connection.send(["PUBLISH", "c", Buffer.from([0, 255])]);
    if (!oneSocket) await arrived(1);
    expect(heard).toEqual([Buffer.from([0, 255])]);
    const left = connection.unsubscribe("c");
    await Promise.all([left, connection.subscribe("c", (message) => heard.push(message))]);
    expect(await connection.send(["PUBLISH", "c", "again"])).toBe(1);
    if (!oneSocket) await arrived(2);
    expect(heard.map(String)[1]).toBe("again");
    await connection.unsubscribe("c");
    expect(await connection.send(["PUBLISH", "c", "nobody"])).toBe(0);
  });

  it("hears sharded channels, and leaves them", async () => {
    const connection = await connect();
    const heard: string[] = [];
    await connection.subscribe("c", (message) => heard.push(String(message)), true);
    expect(await connection.send(["PUBLISH", "c", "not sharded"])).toBe(0);
    expect(await connection.send(["SPUBLISH", "c", "sharded"])).toBe(1);
    await expect.poll(() => heard).toEqual(["sharded"]);
    await connection.unsubscribe("c");
    expect(await connection.send(["SPUBLISH", "c", "nobody"])).toBe(0);
  });

  it("keeps nothing of a sharded channel that was left", async () => {
    const connection = await connect();
    const listeners = new Set<unknown>();
    const onLost = vi.spyOn(ConnectionLife.prototype, "onLost").mockImplementation((listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    });
    try {
      for (const channel of ["a", "b", "c"]) {
        await connection.subscribe(channel, () => {}, true);
        await connection.unsubscribe(channel);
      }
      expect(listeners.size).toBe(0);
    } finally {
      onLost.mockRestore();
    }
  });

  it("is lost, once, when the server ends it; what waits is unknown and what comes after is not sent", async () => {
    const [connection, other] = [await connect(), await connect()];
    const order: string[] = [];
    const lost = vi.fn<(cause: Error) => void>(() => order.push("lost"));
    connection.onLost(lost);
    const id = await connection.send(["CLIENT", "ID"]);
    const waiting = failureOf(connection.send(["XREAD", "BLOCK", "0", "STREAMS", "none", "$"])).then((failure) => {
      order.push("failed");
      return failure;
    });
    await written();
    await other.send(["CLIENT", "KILL", "ID", String(id)]);
    expect(await waiting).toMatchObject({ name: "CommandFailure", outcome: "unknown", code: "" });
    expect(order).toEqual(["lost", "failed"]);
    expect(await failureOf(connection.send(["PING"]))).toMatchObject({ name: "CommandFailure", outcome: "not-sent" });
    expect(await failureOf(connection.subscribe("c", () => {}))).toMatchObject({ outcome: "not-sent" });
    expect(lost).toHaveBeenCalledTimes(1);
    const late = vi.fn<(cause: Error) => void>();
    connection.onLost(late);
    expect(late).toHaveBeenCalledTimes(1);
  });

  it("is not lost when it is destroyed; what waits is unknown, and destroying twice does nothing", async () => {
    const connection = await connect();
    const lost = vi.fn<(cause: Error) => void>();
    connection.onLost(lost);
    const waiting = failureOf(connection.send(["XREAD", "BLOCK", "0", "STREAMS", "none", "$"]));
    await written();
    connection.destroy();
    connection.destroy();
    expect(await waiting).toMatchObject({ outcome: "unknown" });
    expect(await failureOf(connection.send(["PING"]))).toMatchObject({ outcome: "not-sent" });
    expect(lost).not.toHaveBeenCalled();
  });

  it("never sends anything twice: a command that was cut off does not run later", async () => {
    const [connection, other] = [await connect(), await connect()];
    await connection.send(["DEL", "n"]);
    const waiting = failureOf(connection.send(["BLPOP", "none", "0"]));
    const behind = failureOf(connection.send(["INCR", "n"]));
    await written();
    await other.send(["CLIENT", "KILL", "TYPE", "NORMAL", "SKIPME", "YES"]);
    expect([await waiting, await behind]).toMatchObject([{ outcome: "unknown" }, { outcome: "unknown" }]);
    expect(await other.send(["GET", "n"])).toBeNull();
  });
});

describe.each(clientsToTest)("connecting with $name", ({ connectorAt }) => {
  const connect = (url: string) => connectorAt(addressOf({ url })).connect(1_000);

  it("is refused with the code of the server for a wrong password", async () => {
    const failure = await failureOf(connect(server.url.replace("//", "//:wrong@")));
    expect(failure).toMatchObject({ name: "CommandFailure", outcome: "refused", code: "WRONGPASS" });
  });

  it("is refused for a database that does not exist", async () => {
    expect(await failureOf(connect(`${withPassword()}/99`))).toMatchObject({ outcome: "refused", code: "ERR" });
  });

  it("says where nobody listens, without secrets", async () => {
    const failure = await failureOf(connect("redis://user:secret@127.0.0.1:1/2"));
    expect(failure).toMatchObject({ outcome: "not-sent", message: expect.stringContaining("ECONNREFUSED") });
    expect(String(failure)).not.toContain("secret");
  });

  it("gives up in time when the server accepts the connection and then says nothing", async () => {
    const silent: Server = createServer().listen(0, "127.0.0.1");
    await once(silent, "listening");
    const closed = new Promise<void>((resolve) =>
      silent.once("connection", (socket) => socket.resume().on("close", () => resolve())),
    );
    const address = silent.address();
    const port = address !== null && typeof address === "object" ? address.port : 0;
    const startedAt = performance.now();
    expect(await failureOf(connectorAt(addressOf({ url: `redis://127.0.0.1:${port}` })).connect(100))).toMatchObject({
      outcome: "not-sent",
    });
    expect(performance.now() - startedAt).toBeLessThan(1_000);
    await closed;
    silent.close();
  });
});

describe.each(clientsToTest.filter(({ oneSocket }) => !oneSocket))("the second socket of $name", ({ connectorAt }) => {
  const connect = async (url: string) => {
    const connection = await connectorAt(addressOf({ url })).connect(1_000);
    connections.push(connection);
    const lost = new Promise<Error>((resolve) => connection.onLost(resolve));
    return { connection, lost };
  };

  it("takes the first along when it is lost", async () => {
    const [{ connection, lost }, other] = [await connect(withPassword()), await connect(withPassword())];
    await connection.subscribe("c", () => {});
    const waiting = failureOf(connection.send(["XREAD", "BLOCK", "0", "STREAMS", "none", "$"]));
    await written();
    await other.connection.send(["CLIENT", "KILL", "TYPE", "PUBSUB"]);
    expect(await lost).toMatchObject({ message: "the server ended the connection" });
    expect(await waiting).toMatchObject({ outcome: "unknown" });
    expect(await failureOf(connection.send(["PING"]))).toMatchObject({ outcome: "not-sent" });
  });

  it("is made when a channel is first heard, and closed with the first", async () => {
    const [{ connection }, other] = [await connect(withPassword()), await connect(withPassword())];
    const listening = () => other.connection.send(["PUBSUB", "NUMSUB", "c"]);
    const count = async () => String(await other.connection.send(["CLIENT", "LIST"])).match(/ cmd=/g)?.length;
    const before = Number(await count());
    await connection.subscribe("c", () => {});
    expect([await count(), await listening()]).toEqual([before + 1, [Buffer.from("c"), 1]]);
    connection.destroy();
    await expect.poll(async () => [await count(), await listening()]).toEqual([before - 1, [Buffer.from("c"), 0]]);
  });

  it("is found to be dead when the server has gone silent, and not while it answers", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    await using silent = await startRedisServer();
    const { connection, lost } = await connect(silent.url);
    let isLost = false;
    void lost.then(() => (isLost = true));
    await connection.subscribe("c", () => {});
    const pings = async () =>
      /cmdstat_ping:calls=(\d+)/.exec(String(await connection.send(["INFO", "commandstats"])))?.[1];
    const before = Number(await pings());
    for (let round = 1; round <= 3; round++) {
      await vi.advanceTimersByTimeAsync(10_000);
      await vi.waitFor(async () => expect(Number(await pings())).toBe(before + round));
    }
    expect(isLost).toBe(false);
    silent.pause();
    await vi.advanceTimersByTimeAsync(20_000);
    expect(await lost).toMatchObject({ message: "the connection that listens is dead" });
  });
});
