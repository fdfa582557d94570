import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { defineScript } from "../../../src/scripting/script.js";
import type { Supervisor } from "../../../src/connection/supervisor.js";
import { type RedisServer, startRedisServer } from "../../../src/testing/redis-server.js";
import { FaultProxy, isCommand, runs } from "../../support/fault-proxy.js";
import { type RawRedis, rawRedis } from "../../support/raw-redis.js";
import { currentClients, failureOf, note, notes, supervise } from "./note.js";

let server: RedisServer;
let direct: RawRedis;
const supervisors: Supervisor[] = [];

beforeEach(async () => {
  server = await startRedisServer({ args: ["--lua-time-limit", "20"] });
  direct = await rawRedis(`unix://${server.socketPath}`);
});
afterEach(async () => {
  await Promise.all(supervisors.splice(0).map((supervisor) => supervisor.close()));
  direct.close();
  await server.stop();
});

const write = (supervisor: Supervisor, text = "a", timeout = 10_000) =>
  supervisor.evaluate(note, ["notes"], [text], { timeout });
/** Whoever is connected. */
const clients = async () =>
  String(await direct.text("CLIENT", "LIST"))
    .trim()
    .split("\n");
const withPassword = (password: string) => server.url.replace("//", `//:${password}@`);

describe.each(currentClients)("when Redis refuses, the supervisor on $name", (client) => {
  const connected = (url = server.url) => {
    const supervisor = supervise(client, url);
    supervisors.push(supervisor);
    return supervisor;
  };

  it.each([
    ["a wrong password", () => withPassword("wrong")],
    ["no password", () => server.url],
  ])("fails at once with misconfigured for %s, and works as soon as it is accepted", async (_, url) => {
    await direct.command("CONFIG", "SET", "requirepass", "right");
    const supervisor = connected(url());
    const states: unknown[] = [];
    supervisor.onState((state, cause) => states.push([state, cause?.code]));
    for (const call of [write(supervisor), write(supervisor), supervisor.subscribe("channel", () => {})]) {
      expect(await failureOf(call)).toMatchObject({ code: "misconfigured" });
    }
    expect(states).toEqual([["recovering", "misconfigured"]]);
    const accepted = new Promise<void>((resolve) => supervisor.onState((state) => state === "ready" && resolve()));
    await direct.command("CONFIG", "SET", "requirepass", url() === server.url ? "" : "wrong");
    await accepted;
    expect(await write(supervisor)).toMatchObject({ uncertain: false });
  });

  it("shows no password in what it says", async () => {
    await direct.command("CONFIG", "SET", "requirepass", "right");
    const failure = await failureOf(write(connected(withPassword("my-secret"))));
    expect(String(failure)).toContain(server.url);
    expect(String(failure)).not.toContain("my-secret");
  });

  it("fails with misconfigured when the user lacks a right, also inside a script", async () => {
    await direct.command("ACL", "SETUSER", "app", "on", ">app", "~*", "&*", "+@all", "-hincrby");
    const supervisor = connected(server.url.replace("//", "//app:app@"));
    expect(await failureOf(write(supervisor))).toMatchObject({ code: "misconfigured", message: /lacks a right/ });
    await direct.command("ACL", "SETUSER", "app", "-evalsha");
    expect(await failureOf(write(supervisor))).toMatchObject({ code: "misconfigured", message: /lacks a right/ });
    expect(await failureOf(write(supervisor))).toMatchObject({ details: { reply: "NOPERM" } });
  });

  it("fails with misconfigured when it may not hear a channel, and goes on with the rest", async () => {
    await direct.command("ACL", "SETUSER", "app", "on", ">app", "~*", "resetchannels", "+@all");
    const supervisor = connected(server.url.replace("//", "//app:app@"));
    expect(await failureOf(supervisor.subscribe("channel", () => {}))).toMatchObject({ code: "misconfigured" });
    expect(await write(supervisor)).toMatchObject({ uncertain: false });
    await direct.command("ACL", "SETUSER", "app", "allchannels");
    const heard: string[] = [];
    await supervisor.subscribe("channel", (message) => heard.push(String(message)));
    await direct.command("PUBLISH", "channel", "now allowed");
    await expect.poll(() => heard).toEqual(["now allowed"]);
  });

  it("fails with storage-full at the memory limit", async () => {
    const supervisor = connected();
    await write(supervisor);
    await direct.command("CONFIG", "SET", "maxmemory", "1");
    expect(await failureOf(write(supervisor))).toMatchObject({ code: "storage-full" });
    await direct.command("CONFIG", "SET", "maxmemory", "0");
    expect(await write(supervisor)).toMatchObject({ uncertain: false });
  });

  it("fails with misconfigured over a key of another kind", async () => {
    await direct.command("SET", "notes", "something else");
    expect(await failureOf(write(connected()))).toMatchObject({
      code: "misconfigured",
      details: { reply: "WRONGTYPE" },
    });
  });

  it("fails with misconfigured when a script stops on an error of its own", async () => {
    const broken = defineScript("broken", "return nothing.there");
    expect(await failureOf(connected().evaluate(broken, [], []))).toMatchObject({ code: "misconfigured" });
  });

  it("fails with refused, and says what the script said, when a script refuses", async () => {
    const refusing = defineScript("refusing", "return redis.error_reply('STALE claim')");
    expect(await failureOf(connected().evaluate(refusing, [], []))).toMatchObject({
      code: "refused",
      details: { reply: "STALE" },
    });
  });

  it("waits while the server is busy with a slow script", async () => {
    await using proxy = await FaultProxy.start(server.port);
    const supervisor = connected(proxy.url);
    await write(supervisor);
    await using slow = await rawRedis(server.url);
    const endless = failureOf(slow.command("EVAL", "while true do end", 0));
    await expect.poll(async () => String(await failureOf(direct.command("PING")))).toMatch(/BUSY/);
    const first = proxy.plan("hold", runs(note));
    const call = write(supervisor, "b");
    await first.happened;
    first.release();
    expect(String(await first.reply)).toMatch(/^BUSY/);
    await direct.command("SCRIPT", "KILL");
    await endless;
    expect(await call).toMatchObject({ uncertain: false });
    expect(await notes(direct)).toEqual({ a: 1, b: 1 });
    await supervisor.close();
  });

  it("looks for the primary again when its server became a replica", async () => {
    const supervisor = connected();
    await write(supervisor);
    const states: string[] = [];
    supervisor.onState((state) => states.push(state));
    await direct.command("REPLICAOF", "127.0.0.1", "1");
    const call = write(supervisor, "b");
    await expect.poll(() => states).toContain("recovering");
    await direct.command("REPLICAOF", "NO", "ONE");
    expect(await call).toMatchObject({ uncertain: false });
  });
});

describe.each(currentClients)("close, on $name", (client) => {
  const connected = (url = server.url) => {
    const supervisor = supervise(client, url);
    supervisors.push(supervisor);
    return supervisor;
  };

  it("ends calls in flight, and calls that wait for a connection, with closed; it is safe to call twice", async () => {
    const [busy, waiting] = [connected(), connected("redis://127.0.0.1:1")];
    await write(busy);
    server.pause();
    const calls = [write(busy), write(waiting), busy.subscribe("channel", () => {})].map(failureOf);
    // Until the commands are written.
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    await Promise.all([busy.close(), busy.close(), waiting.close()]);
    server.continue();
    for (const call of calls) expect(await call).toMatchObject({ code: "closed" });
    expect(await failureOf(write(busy))).toMatchObject({ code: "closed" });
    await busy.close();
  });

  it("leaves no connection behind, even while one is being made", async () => {
    const [idle, connecting] = [connected(), connected()];
    await write(idle);
    const call = failureOf(write(connecting));
    await Promise.all([idle.close(), connecting.close()]);
    expect(await call).toMatchObject({ code: "closed" });
    await expect.poll(clients).toHaveLength(1);
  });

  it("does not wait for a server that does not answer a new connection", async () => {
    await using proxy = await FaultProxy.start(server.port);
    const supervisor = connected(proxy.url);
    const time = proxy.plan("hold", isCommand("TIME"));
    const call = failureOf(write(supervisor));
    await time.happened;
    await supervisor.close();
    expect(await call).toMatchObject({ code: "closed" });
    time.release();
    // Its socket was closed: what was held goes to the server, and then the end of the connection.
    await expect.poll(clients).toHaveLength(1);
  });

  it("says once that it is closed to those who listen for the state, and nothing after that", async () => {
    const supervisor = connected();
    await write(supervisor);
    const heard = vi.fn<() => void>();
    supervisor.onState(heard);
    await supervisor.close();
    await supervisor.close();
    expect(heard).toHaveBeenCalledExactlyOnceWith("closed", expect.objectContaining({ code: "closed" }));
  });
});
