import { describe, expect, it } from "vitest";
import { PunctualError } from "../../errors.js";
import { type RedisEngineOptions, redisEngine } from "./engine.js";

const url = "redis://127.0.0.1:6379";

/** What a program without types may hand over. */
function refusalOf(options: unknown): unknown {
  try {
    redisEngine(options as RedisEngineOptions);
  } catch (error) {
    return error;
  }
  return undefined;
}

describe("the options of the Redis engine", () => {
  it("that are right are taken, undefined ones too", async () => {
    const full = { url: "rediss://127.0.0.1", username: "ada", password: "x", tls: {}, prefix: "shop" };
    const left = { username: undefined, password: undefined, tls: undefined, prefix: undefined };
    for (const options of [
      { ...full, deadLetters: { max: 1 } },
      { url, ...left },
      { url: "redis+sentinel://127.0.0.1/main" },
      {
        url: "rediss+sentinel://127.0.0.1/main",
        tls: {},
        nodeAddress: (host: string, port: number) => ({ host, port }),
      },
      { nodes: [url, "redis://127.0.0.2"], nodeAddress: (host: string, port: number) => ({ host, port }) },
    ]) {
      await using engine = redisEngine(options);
      expect(engine.name).toBe("redis");
    }
  });

  it.each([
    [undefined, "options are missing; accepted is an object such as { url: "],
    [null, "options is null; accepted is an object such as { url: "],
    ["redis://:hunter2@127.0.0.1", "options is a string; accepted is an object such as { url: "],
    [{}, "url is missing; accepted is redis://"],
    [{ url: undefined }, "url is missing; accepted is redis://"],
    [{ url: 6379 }, "url is 6379; accepted is redis://"],
    [{ url: new URL(url) }, "url is an object; accepted is redis://"],
    [{ url: "127.0.0.1:6379" }, "The Redis URL cannot be understood; accepted is redis://"],
    [{ host: "127.0.0.1", port: 6379 }, 'options has no option "host". Did you mean "url"? There are: url, '],
    [{ url, keyPrefix: "shop" }, 'options has no option "keyPrefix". Did you mean "prefix"? '],
    [{ url, prefix: 5 }, "prefix is 5; accepted is "],
    [{ url, prefix: null }, "prefix is null; accepted is "],
    [{ url, prefix: "" }, 'prefix is ""; accepted is 1 to 64 '],
    [{ url, username: 7 }, "username is no string; accepted is text."],
    [{ url, password: ["hunter2"] }, "password is no string; accepted is text."],
    [{ url: "rediss://127.0.0.1", tls: "hunter2" }, "tls is no object; accepted is "],
    [{ url: "rediss://127.0.0.1", tls: true }, "tls is no object; accepted is "],
    [{ url, tls: {} }, "tls is given, and the URL does not ask for TLS; accepted is a URL that starts with rediss://."],
    [{ url, nodes: [url] }, "both url and nodes are given; accepted is one of them."],
    [{ nodes: "redis://:hunter2@127.0.0.1" }, "nodes is no list; accepted is a list of URLs such as "],
    [{ nodes: [] }, "nodes is an empty list; accepted is a list of URLs such as "],
    [{ nodes: [6379] }, "a node is no text; accepted is a list of URLs such as "],
    [{ nodes: ["unix:///redis.sock"] }, "a node is a unix socket; accepted is a list of URLs such as "],
    [{ nodes: [`${url}/1`] }, "a node has the database 1; accepted is none or 0: a Cluster has one database."],
    [{ nodes: [url], tls: {} }, "tls is given, and the URL does not ask for TLS; "],
    [{ nodes: [url], nodeAddress: "hunter2" }, "nodeAddress is no function; accepted is "],
    [{ url, nodeAddress: () => ({}) }, "nodeAddress is given beside the URL of a single Redis; accepted is "],
    [
      { url: "redis+sentinel://:hunter2@127.0.0.1" },
      "The Redis URL cannot be understood; accepted is redis+sentinel://",
    ],
    [{ url, deadLetters: { max: 0 } }, "deadLetters.max is 0; "],
  ])("%j are refused with a sentence, and without a word of a password", (options, sentence) => {
    const refusal = refusalOf(options);
    expect(refusal).toBeInstanceOf(PunctualError);
    expect(refusal).toMatchObject({ code: "invalid-argument", message: expect.stringContaining(sentence) });
    expect(refusal).toMatchObject({ details: { argument: expect.any(String) } });
    expect(String(refusal)).not.toContain("hunter2");
  });
});
