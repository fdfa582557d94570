import { createClient } from "@redis/client";
import { Redis } from "ioredis";
import { describe, expect, it } from "vitest";
import { PunctualError } from "../errors.js";
import { type RedisOptions, readRedisOptions } from "./redis-options.js";

const url = "redis://127.0.0.1:6379";
const client = createClient({ url: "redis://cache.example:7000" });

const refusalOf = (options: unknown): unknown => {
  try {
    return readRedisOptions(options as RedisOptions, ["more"]);
  } catch (error) {
    return error;
  }
};

describe("the options of an engine on Redis", () => {
  it.each<[string, RedisOptions, string]>([
    ["a URL", { url }, "redis://127.0.0.1:6379"],
    ["a URL for a library", { url, library: "ioredis" }, "redis://127.0.0.1:6379"],
    ["a URL with a login beside it", { url, username: "app", password: "secret" }, "redis://127.0.0.1:6379"],
    ["TLS", { url: "rediss://cache.example", tls: {} }, "rediss://cache.example:6379"],
    ["a client of node-redis", { client }, "redis://cache.example:7000"],
    ["a client of ioredis", { client: new Redis(7001, { lazyConnect: true }) }, "redis://localhost:7001"],
    ["a client, and no word on the rest", { client, url: undefined, library: undefined }, "redis://cache.example:7000"],
  ])("are %s", (_, options, target) => {
    expect(readRedisOptions(options)).toMatchObject({ connector: { target }, prefix: "punctual" });
  });

  it.each<[string, unknown, argument: string, sentence: RegExp]>([
    ["neither", {}, "url", /^url is missing; accepted is redis:\/\/.*; or nodes of a Cluster, or a client instead\.$/],
    ["both", { url, client }, "client", /^both url and client are given; accepted is one of them\.$/],
    [
      "no client",
      { client: "redis" },
      "client",
      /^client is "redis"; accepted is a client of node-redis or ioredis\.$/,
    ],
    ["a null", { client: null }, "client", /^client is null; accepted is a client of node-redis or ioredis\.$/],
    [
      "another library",
      { url, library: "redis" },
      "library",
      /^library is "redis"; accepted is "node-redis" or "ioredis"\.$/,
    ],
    [
      "a library beside a client",
      { client, library: "ioredis" },
      "library",
      /^library is given beside client; accepted is/,
    ],
    [
      "a user beside a client",
      { client, username: "app" },
      "username",
      /^username is given beside client; accepted is/,
    ],
    ["a password beside a client", { client, password: "hunter2" }, "password", /^password is given beside client; /],
    ["TLS beside a client", { client, tls: {} }, "tls", /^tls is given beside client; accepted is/],
    ["TLS for a URL without", { url, tls: {} }, "tls", /^tls is given, and the URL does not ask for TLS; accepted is/],
    ["a prefix with a colon", { url, prefix: "a:b" }, "prefix", /^prefix is "a:b"; accepted is/],
    ["a name that there is not", { url, host: "127.0.0.1" }, "options", /^options has no option "host"/],
  ])("are not %s", (_, options, argument, sentence) => {
    const refusal = refusalOf(options);
    expect(refusal).toBeInstanceOf(PunctualError);
    expect(refusal).toMatchObject({
      code: "invalid-argument",
      message: expect.stringMatching(sentence),
      details: { argument },
    });
    expect(String(refusal)).not.toContain("hunter2");
  });
});
