import { describe, expect, it } from "vitest";
import { PunctualError } from "../errors.js";
import { parseRedisUrl } from "./redis-url.js";

const refusalOf = (url: string): unknown => {
  try {
    return parseRedisUrl(url);
  } catch (error) {
    return error;
  }
};

describe("a Redis URL", () => {
  it.each([
    ["redis://127.0.0.1", { endpoint: { host: "127.0.0.1", port: 6379, tls: false }, database: 0 }],
    ["redis://localhost:7000/3", { endpoint: { host: "localhost", port: 7000, tls: false }, database: 3 }],
    ["redis://localhost?db=3", { database: 3 }],
    ["rediss://cache.example:6380", { endpoint: { host: "cache.example", port: 6380, tls: true } }],
    ["redis://[::1]:7000", { endpoint: { host: "::1", port: 7000, tls: false }, target: "redis://[::1]:7000" }],
    ["redis://:secret@localhost", { username: undefined, password: "secret" }],
    [
      "redis://user:se%40cret%3A@localhost",
      { username: "user", password: "se@cret:", target: "redis://localhost:6379" },
    ],
    [
      "unix:///tmp/redis.sock",
      { endpoint: { path: "/tmp/redis.sock" }, database: 0, target: "unix:///tmp/redis.sock" },
    ],
    [
      "unix://user:secret@/tmp/a%20b.sock?db=2",
      { endpoint: { path: "/tmp/a b.sock" }, username: "user", password: "secret", database: 2 },
    ],
    ["unix://:secret@/tmp/redis.sock", { username: undefined, password: "secret", target: "unix:///tmp/redis.sock" }],
  ])("%s is understood", (url, address) => {
    expect(parseRedisUrl(url)).toMatchObject(address);
  });

  it.each([
    "",
    "localhost:6379",
    "http://:hunter2@localhost",
    "redis://",
    "redis://:hunter2@localhost/zero",
    "redis://:hunter2@localhost/-1",
    "unix://hunter2",
    "redis://:hunter2%@localhost",
  ])("%j is refused, without a word of its password", (url) => {
    const refusal = refusalOf(url);
    expect(refusal).toBeInstanceOf(PunctualError);
    expect(refusal).toMatchObject({ code: "invalid-argument" });
    expect(String(refusal)).not.toContain("hunter2");
  });
});
