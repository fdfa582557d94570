import { Redis } from "ioredis";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Connection } from "../../../src/clients/port.js";
import { addressOf } from "../../../src/clients/redis-url.js";
import { clientsToTest } from "../../support/clients-to-test.js";
import { FaultProxy, isCommand } from "../../support/fault-proxy.js";
import { withRedis } from "../../support/with-redis.js";
import { failureOf } from "./note.js";

const redis = withRedis();
let proxy: FaultProxy;
let connections: Connection[];

beforeEach(async () => {
  connections = [];
  await redis.raw.command("FLUSHALL");
  proxy = await FaultProxy.start(redis.server.port);
});
afterEach(async () => {
  for (const connection of connections) connection.destroy();
  await proxy[Symbol.asyncDispose]();
});

/** How often the script of these tests has run. */
const runs = () => redis.raw.text("GET", "runs");
const script = "return redis.call('INCR', 'runs')";
/** Longer than a client takes that connects and sends again after 1 ms, and longer than the time-outs of those handed in. */
const quiet = () => new Promise((resolve) => setTimeout(resolve, 60));

it("ioredis as it comes runs a script twice when a reply is lost, and reports one success", async () => {
  const client = new Redis(proxy.url, { retryStrategy: () => 1 });
  // It would write to the console.
  client.on("error", () => {});
  const planned = proxy.plan("cut-before-reply", isCommand("EVAL"));
  const reply = client.eval(script, 0);
  await planned.happened;
  expect(await reply).toBe(2);
  client.disconnect();
});

describe.each(clientsToTest)("with $name", ({ connectorAt }) => {
  const connect = async () => {
    const connection = await connectorAt(addressOf({ url: proxy.url })).connect(2_000);
    connections.push(connection);
    const lost = vi.fn<(cause: Error) => void>();
    connection.onLost(lost);
    return { connection, lost };
  };

  it("an error reply is refused, with its code, and the connection goes on", async () => {
    const { connection, lost } = await connect();
    const refused = [
      connection.send(["EVALSHA", "0".repeat(40), "0"]),
      connection.send(["EVAL", "return redis.error_reply('TOOLATE 12')", "0"]),
      connection.send(["INCR"]),
    ];
    expect(await Promise.all(refused.map(failureOf))).toMatchObject([
      { name: "CommandFailure", outcome: "refused", code: "NOSCRIPT" },
      { name: "CommandFailure", outcome: "refused", code: "TOOLATE", message: "TOOLATE 12" },
      { name: "CommandFailure", outcome: "refused", code: "ERR" },
    ]);
    expect(await connection.send(["EVAL", script, "0"])).toBe(1);
    expect(lost).not.toHaveBeenCalled();
  });

  it("what comes after the connection was lost is not sent, and nothing connects again", async () => {
    const { connection, lost } = await connect();
    const accepted = proxy.accepted;
    proxy.cut();
    await expect.poll(() => lost).toHaveBeenCalledTimes(1);
    expect(await failureOf(connection.send(["EVAL", script, "0"]))).toMatchObject({ outcome: "not-sent", code: "" });
    await quiet();
    expect(proxy.accepted).toBe(accepted);
    expect(await runs()).toBeNull();
  });

  it.each([
    ["before the request", "cut-before-request", null],
    ["after the request, before the reply", "cut-before-reply", "1"],
    ["inside the reply", "cut-inside-reply", "1"],
  ] as const)("a script that is cut off %s is unknown, and does not run again", async (_, fault, ran) => {
    const { connection, lost } = await connect();
    const accepted = proxy.accepted;
    const planned = proxy.plan(fault, isCommand("EVAL"));
    const behind = failureOf(connection.send(["EVAL", script, "0"])).then(async (failure) => [
      failure,
      await failureOf(connection.send(["INCR", "runs"])),
    ]);
    await planned.happened;
    expect(await behind).toMatchObject([
      { name: "CommandFailure", outcome: "unknown", code: "" },
      { name: "CommandFailure", outcome: "not-sent" },
    ]);
    await quiet();
    expect(lost).toHaveBeenCalledTimes(1);
    expect(await runs()).toBe(ran);
    expect(proxy.accepted).toBe(accepted);
  });

  it("a script that is held back waits, and is unknown when its connection is destroyed, though it runs later", async () => {
    const { connection, lost } = await connect();
    const held = proxy.plan("hold", isCommand("EVAL"));
    let settled = false;
    const waiting = failureOf(connection.send(["EVAL", script, "0"])).finally(() => (settled = true));
    await held.happened;
    // Longer than any time-out that the library was given.
    await quiet();
    expect(settled).toBe(false);
    connection.destroy();
    expect(await waiting).toMatchObject({ name: "CommandFailure", outcome: "unknown" });
    held.release();
    await expect.poll(runs).toBe("1");
    expect(lost).not.toHaveBeenCalled();
  });

  it("replies that come byte by byte are what they are", async () => {
    const { connection } = await connect();
    proxy.byteByByte();
    const bytes = Buffer.from([0, 13, 10, 255, 36]);
    expect(await connection.send(["EVAL", "return {ARGV[1], 7, false, {}}", "0", bytes])).toEqual([bytes, 7, null, []]);
  });

  it("a server that takes the connection and is held up while it logs in is given up in time", async () => {
    proxy.stall();
    const failure = await failureOf(connectorAt(addressOf({ url: proxy.url })).connect(100));
    expect(failure).toMatchObject({ outcome: "not-sent", message: expect.stringContaining("no answer within 100 ms") });
  });

  it("a subscription that is cut off is unknown", async () => {
    const { connection, lost } = await connect();
    const planned = proxy.plan("cut-before-reply", isCommand("SUBSCRIBE"));
    expect(await failureOf(connection.subscribe("c", () => {}))).toMatchObject({ outcome: "unknown" });
    await planned.happened;
    expect(lost).toHaveBeenCalledTimes(1);
  });
});
