import { describe, expect, it } from "vitest";
import { PunctualError } from "../../errors.js";
import { loadLibrary } from "./broker-connection.js";
import { explained } from "./broker-failures.js";
import { type RabbitmqEngineOptions, rabbitmqEngine } from "./engine.js";
import { readRabbitmqEngineOptions } from "./engine-options.js";

const url = "amqp://127.0.0.1:5672";

/** What a program without types may hand over. */
function refusalOf(options: unknown): unknown {
  try {
    rabbitmqEngine(options as RabbitmqEngineOptions);
  } catch (error) {
    return error;
  }
  return undefined;
}

describe("The options of the RabbitMQ engine", () => {
  it("that are right are taken, undefined ones too", async () => {
    const full = { url: "amqps://ada@127.0.0.1/x", username: "ada", password: "x", tls: {}, prefix: "shop" };
    const left = { username: undefined, tls: undefined, prefix: undefined, mode: undefined, queues: undefined };
    for (const options of [{ ...full, mode: "plugin", queues: "classic" } as const, { url, ...left }]) {
      await using engine = rabbitmqEngine(options);
      expect(engine.name).toBe("rabbitmq");
    }
  });

  it("say where the broker is, with the defaults of AMQP", () => {
    const address = (text: string) => readRabbitmqEngineOptions({ url: text }).address;
    expect(address("amqp://host")).toMatchObject({ hostname: "host", port: 5672, vhost: "/", username: "guest" });
    expect(address("amqps://a%40b:c%3Ad@[::1]:1/sh%2Fop")).toMatchObject({
      target: "amqps://[::1]:1",
      hostname: "::1",
      port: 1,
      vhost: "sh/op",
      username: "a@b",
      password: "c:d",
    });
    expect(address("amqps://host").port).toBe(5671);
  });

  it.each([
    [undefined, "options is undefined; accepted is an object such as { url: "],
    ["amqp://:hunter2@127.0.0.1", "options is a string; accepted is an object such as { url: "],
    [{}, "url is missing; accepted is amqp://"],
    [{ url: "redis://:hunter2@127.0.0.1" }, "The RabbitMQ URL cannot be understood; accepted is amqp://"],
    [{ url: "amqp://a:%@b" }, "The RabbitMQ URL holds a % that starts no escape; accepted is %25 for a %."],
    [{ host: "127.0.0.1" }, 'options has no option "host". Did you mean "url"?'],
    [{ url, prefix: "a/b" }, 'prefix is "a/b"; accepted is 1 to 64 '],
    [{ url, mode: "exchange" }, 'mode is "exchange"; accepted is "ladder" or "plugin".'],
    [{ url, queues: "lazy" }, 'queues is "lazy"; accepted is "quorum" or "classic".'],
    [{ url, username: 1 }, "username is no string; accepted is text."],
    [{ url, password: ["hunter2"] }, "password is no string; accepted is text."],
    [{ url: "amqps://127.0.0.1", tls: "hunter2" }, "tls is no object; accepted is an object"],
    [{ url, tls: {} }, "tls is given, and the URL does not ask for TLS; accepted is a URL that starts with amqps://."],
  ])("%j are refused with a sentence, and without a word of a password", (options, sentence) => {
    const refusal = refusalOf(options);
    expect(refusal).toMatchObject({ code: "invalid-argument", message: expect.stringContaining(sentence) });
    expect(refusal).toMatchObject({ details: { argument: expect.any(String) } });
    expect(String(refusal)).not.toContain("hunter2");
  });
});

describe("What the RabbitMQ engine says", () => {
  it("without its client library names the command that installs it", async () => {
    const loading = loadLibrary(() => Promise.reject(new Error("Cannot find package 'amqplib'")));
    await expect(loading).rejects.toMatchObject({
      code: "misconfigured",
      message: expect.stringContaining("`npm install amqplib`"),
    });
  });

  it.each([
    [
      "Connection closed: 503 (COMMAND_INVALID) - unknown exchange type 'x-delayed-message'",
      "misconfigured",
      "enable its plugin",
    ],
    ["406 (PRECONDITION-FAILED) - inequivalent arg 'x-message-ttl'", "misconfigured", "use another prefix"],
    ["403 (ACCESS-REFUSED) Login was refused", "misconfigured", "refuses this user"],
    ["530 (NOT-ALLOWED) - vhost shop not found", "misconfigured", "no such vhost"],
    ["connect ECONNREFUSED 127.0.0.1:1", "not-sent", "nothing listens there"],
    ["Socket closed abruptly during opening handshake", "not-sent", "Socket closed abruptly"],
  ])("of %j tells what to change", (text, code, sentence) => {
    const failure = explained(new Error(text), "amqp://host:1");
    expect(failure).toMatchObject({ code, message: expect.stringContaining(sentence) });
    expect(failure.message).toMatch(/^Cannot use the RabbitMQ at amqp:\/\/host:1: /);
    expect(explained(failure, "elsewhere")).toBe(failure);
  });

  it("of what it cannot do is a reason and an engine that can", async () => {
    await using engine = rabbitmqEngine({ url });
    const queue = engine.open("orders");
    const refused = [
      queue.cancel(["a"]),
      queue.reschedule([{ id: "a", due: { delay: 0 } }]),
      queue.get(["a"]),
      queue.list({ state: "dead", limit: 1 }),
      queue.audit(),
      queue.repair(),
      queue.pause(),
      queue.resume(),
      queue.purge("waiting"),
    ];
    for (const call of refused) {
      const failure = await call.catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(PunctualError);
      expect(failure).toMatchObject({
        code: "unsupported",
        message: expect.stringMatching(/: .* The engine redis can\.$/),
      });
    }
    expect(() => engine.open("orders", { rememberFor: 1 })).toThrow(/cannot remember ids/);
  });
});
