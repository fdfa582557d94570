import { createClient, createClientPool, createCluster, createSentinel } from "@redis/client";
import { Cluster, Command, Redis } from "ioredis";
import { Cluster as Cluster5, Redis as Redis5 } from "ioredis-5";
import {
  createClient as createClient5,
  createCluster as createCluster5,
  createSentinel as createSentinel5,
} from "redis-client-5";
import { afterEach, describe, expect, it, vi } from "vitest";
import { withRedis } from "../../test/support/with-redis.js";
import { PunctualError } from "../errors.js";
import { connectorOf, type GivenClient } from "./given-client.js";

const redis = withRedis();
const lazyConnect = true;
const sentinels = [{ host: "127.0.0.1", port: 1 }];
const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

/** A client that connects and works, of each kind. */
const kinds: [kind: string, connect: () => Promise<GivenClient & { close(): unknown; ping(): Promise<string> }>][] = [
  ["node-redis 6", async () => withClose(await createClient({ url: redis.url }).connect())],
  ["node-redis 5", async () => withClose(await createClient5({ url: redis.url }).connect())],
  ["ioredis 6", async () => withClose(new Redis(redis.url))],
  ["ioredis 5", async () => withClose(new Redis5(redis.url))],
];
const withClose = <C extends object>(client: C & { destroy?(): unknown; disconnect(): unknown }) =>
  Object.assign(client, { close: () => (client.destroy ?? client.disconnect).call(client) });

/** What connections are called on the server. */
const names = async () =>
  String(await redis.raw.command("CLIENT", "LIST"))
    .split("\n")
    .flatMap((line) => / name=(\S*) /.exec(line)?.[1] ?? []);

describe("a client that is handed in", () => {
  it.each(kinds)("is neither used nor closed, nor told of an end of ours (%s)", async (_, make) => {
    const client = await make();
    cleanUps.push(() => client.close());
    await client.ping();
    const send = vi.spyOn(client, "sendCommand" as never);
    const end = vi.spyOn(client, "disconnect" as never);
    const connection = await connectorOf(client).connect(1_000);
    await connection.subscribe("c", () => {});
    expect(await connection.send(["SET", "k", "v"])).toEqual(Buffer.from("OK"));
    connection.destroy();
    expect(send).not.toHaveBeenCalled();
    expect(end).not.toHaveBeenCalled();
    expect(await client.ping()).toBe("PONG");
  });

  it.each([
    ["node-redis 6", () => createClient({ url: redis.url })],
    ["node-redis 5", () => createClient5({ url: redis.url })],
    ["ioredis 6", () => new Redis(redis.url, { lazyConnect })],
    ["ioredis 5", () => new Redis5(redis.url, { lazyConnect })],
  ])("need not be connected, and is not connected by us (%s)", async (_, make) => {
    const client = make();
    const connection = await connectorOf(client).connect(1_000);
    cleanUps.push(() => connection.destroy());
    expect(await connection.send(["PING"])).toEqual(Buffer.from("PONG"));
    expect("isOpen" in client ? client.isOpen : client.status).toBe("isOpen" in client ? false : "wait");
  });

  it.each([
    ["node-redis", () => createClient({ url: redis.url, name: "app" })],
    ["ioredis", () => new Redis(redis.url, { lazyConnect, connectionName: "app" })],
  ])("gives our connections its name (%s)", async (_, make) => {
    const connection = await connectorOf(make()).connect(1_000);
    cleanUps.push(() => connection.destroy());
    expect(await names()).toContain("app");
  });

  it("is asked anew for its login with each connection, so that a password can change", async () => {
    await redis.raw.command("ACL", "SETUSER", "rotating", "on", ">first", "+@all", "~*", "&*");
    const ofIORedis = new Redis(redis.url, { lazyConnect, username: "rotating", password: "first" });
    let password = "first";
    const credentials = async () => ({ username: "rotating", password });
    const ofNodeRedis = createClient({
      url: redis.url,
      credentialsProvider: { type: "async-credentials-provider", credentials },
    });
    const connectors = [connectorOf(ofIORedis), connectorOf(ofNodeRedis)];
    for (const connector of connectors) (await connector.connect(1_000)).destroy();
    await redis.raw.command("ACL", "SETUSER", "rotating", "resetpass", ">second");
    for (const connector of connectors) {
      await expect(connector.connect(1_000)).rejects.toMatchObject({ outcome: "refused", code: "WRONGPASS" });
    }
    ofIORedis.options.password = "second";
    password = "second";
    for (const connector of connectors) (await connector.connect(1_000)).destroy();
  });

  it("of ioredis may belong to a program that transforms commands and replies", async () => {
    cleanUps.push(() => {
      for (const name of ["eval", "get"]) {
        Command.setArgumentTransformer(name, (args) => args);
        Command.setReplyTransformer(name, (reply: unknown) => reply);
      }
    });
    for (const name of ["eval", "get"]) {
      Command.setArgumentTransformer(name, () => ["transformed"]);
      Command.setReplyTransformer(name, () => "transformed");
    }
    const connection = await connectorOf(new Redis(redis.url, { lazyConnect })).connect(1_000);
    cleanUps.push(() => connection.destroy());
    expect(await connection.send(["EVAL", "return ARGV[1]", "0", "as it is"])).toEqual(Buffer.from("as it is"));
    expect(await connection.send(["get", "no such key"])).toBeNull();
  });

  it.each([
    [
      "an URL of node-redis",
      createClient({ url: "rediss://user:secret@cache.example:7000/2" }),
      "rediss://cache.example:7000",
    ],
    [
      "options of node-redis",
      createClient({ socket: { path: "/run/redis.sock", tls: false } }),
      "unix:///run/redis.sock",
    ],
    ["no options of node-redis", createClient(), "redis://localhost:6379"],
    ["no options of node-redis 5", createClient5(), "redis://localhost:6379"],
    [
      "an URL of ioredis",
      new Redis("rediss://user:secret@cache.example:7000/2", { lazyConnect }),
      "rediss://cache.example:7000",
    ],
    ["an address of IPv6", new Redis({ host: "::1", lazyConnect }), "redis://[::1]:6379"],
    ["a socket of ioredis", new Redis("/run/redis.sock", { lazyConnect }), "unix:///run/redis.sock"],
  ])("is called by its address in error texts, without secrets: %s", (_, client, target) => {
    expect(connectorOf(client).target).toBe(target);
  });
});

describe("refused at construction, with what to change, is", () => {
  it.each<[what: string, client: () => unknown, sentence: string]>([
    [
      "a key prefix of ioredis",
      () => new Redis({ lazyConnect, keyPrefix: "app:" }),
      'client puts "app:" before every key by its option keyPrefix, and the engine names all keys itself; accepted is a client without keyPrefix; the engine\'s option prefix says how its keys begin.',
    ],
    [
      "a key prefix of node-redis",
      () => createClient({ keyPrefix: Buffer.from("app:") }),
      'client puts "app:" before every key by its option keyPrefix, and the engine names all keys itself; accepted is a client without keyPrefix; the engine\'s option prefix says how its keys begin.',
    ],
    ["a Cluster of ioredis 6", () => new Cluster(sentinels, { lazyConnect }), ofCluster],
    ["a Cluster of ioredis 5", () => new Cluster5(sentinels, { lazyConnect }), ofCluster],
    ["a Cluster of node-redis 6", () => createCluster({ rootNodes: [] }), ofCluster],
    ["a Cluster of node-redis 5", () => createCluster5({ rootNodes: [] }), ofCluster],
    ["a Sentinel of ioredis 6", () => new Redis({ lazyConnect, sentinels, name: "main" }), ofSentinel],
    ["a Sentinel of ioredis 5", () => new Redis5({ lazyConnect, sentinels, name: "main" }), ofSentinel],
    ["a Sentinel of node-redis 6", () => createSentinel({ name: "main", sentinelRootNodes: sentinels }), ofSentinel],
    ["a Sentinel of node-redis 5", () => createSentinel5({ name: "main", sentinelRootNodes: sentinels }), ofSentinel],
    [
      "a pool",
      () => createClientPool(),
      "client is a pool, and the engine has connections of its own; accepted is a client of createClient(), with the options of the pool's clients.",
    ],
    ["an older version", () => without(createClient(), "withTypeMapping"), known],
    ["an older version of ioredis", () => without(new Redis({ lazyConnect }), "mode"), known],
    ["something else", () => ({ duplicate: () => ({}) }), known],
  ])("%s", (_, make, sentence) => {
    const client = make() as GivenClient;
    expect(() => connectorOf(client)).toThrow(PunctualError);
    expect(() => connectorOf(client)).toThrow(
      expect.objectContaining({ code: "invalid-argument", message: sentence, details: { argument: "client" } }),
    );
  });
});

const ofCluster =
  'client is of a Redis Cluster, and its nodes cannot be read from it; accepted is a client of one Redis, or in its place nodes: redisEngine({ nodes: ["redis://host:port", …] }).';
const ofSentinel =
  'client finds its Redis by Sentinel, which the engine does itself; accepted is a client of one Redis, or in its place a URL of the sentinels: redisEngine({ url: "redis+sentinel://host:port,host:port/<name of the primary>" }).';
const known =
  "client is of no kind that is known here; accepted is what createClient() of @redis/client or redis gives, or a new Redis() of ioredis, each in version 5 or 6.";

/** A client that lacks what its library has since version 5. */
const without = (client: object, name: string) =>
  new Proxy(client, {
    has: (target, key) => key !== name && Reflect.has(target, key),
    get: (target, key): unknown => (key === name ? undefined : Reflect.get(target, key)),
  });
