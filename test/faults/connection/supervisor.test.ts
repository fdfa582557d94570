import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Supervisor } from "../../../src/connection/supervisor.js";
import { type RedisServer, startRedisServer } from "../../../src/testing/redis-server.js";
import type { ClientToTest } from "../../support/clients-to-test.js";
import { FaultProxy, isCommand, runs } from "../../support/fault-proxy.js";
import { type RawRedis, rawRedis } from "../../support/raw-redis.js";
import { StallWatch } from "../../support/stall-watch.js";
import { currentClients, failureOf, note, notes, supervise } from "./note.js";

let server: RedisServer;
let direct: RawRedis;
let proxy: FaultProxy;
let supervisor: Supervisor;
let states: string[];

beforeEach(async () => {
  server = await startRedisServer({ aof: true });
  direct = await rawRedis(server.url);
  proxy = await FaultProxy.start(server.port);
});
afterEach(async () => {
  await supervisor.close();
  await proxy[Symbol.asyncDispose]();
  direct.close();
  await server.stop();
});

const begin = (client: ClientToTest) => {
  supervisor = supervise(client, proxy.url);
  states = [];
  supervisor.onState((state) => states.push(state));
};
const write = (text: string) => supervisor.evaluate(note, ["notes"], [text]);
const ready = () => new Promise<void>((resolve) => supervisor.onState((state) => state === "ready" && resolve()));

describe.each(currentClients)("when a connection of $name fails, the supervisor", (client) => {
  beforeEach(() => begin(client));

  it("repeats a call that was cut off before the server saw it", async () => {
    await write("a");
    proxy.plan("cut-before-request", runs(note));
    expect(await write("b")).toMatchObject({ reply: [expect.anything(), 1], uncertain: true });
    expect(await notes(direct)).toEqual({ a: 1, b: 1 });
    expect(states).toEqual(["ready", "recovering", "ready"]);
  });

  it.each(["cut-before-reply", "cut-inside-reply"] as const)(
    "repeats a call whose reply was lost (%s) and says that it may have run before",
    async (fault) => {
      await write("a");
      proxy.plan(fault, runs(note));
      expect(await write("b")).toMatchObject({ reply: [expect.anything(), 2], uncertain: true });
      expect(await write("c")).toMatchObject({ reply: [expect.anything(), 1], uncertain: false });
      expect(await notes(direct)).toEqual({ a: 1, b: 2, c: 1 });
    },
  );

  it("connects again by itself after a restart while idle, and hears its channels again", async () => {
    const heard: string[] = [];
    await supervisor.subscribe("channel", (message) => heard.push(String(message)));
    const recovered = ready();
    await server.restart();
    await recovered;
    await using redis = await rawRedis(server.url);
    expect(await redis.command("PUBLISH", "channel", "still there?")).toBe(1);
    await expect.poll(() => heard).toEqual(["still there?"]);
    expect(await write("a")).toMatchObject({ uncertain: false });
  });

  it("gets every call done that runs while the server is killed and started again", async () => {
    let sent = 0;
    const calls: Promise<unknown>[] = [];
    const load = setInterval(() => {
      for (let i = 0; i < 20; i++) calls.push(write(`call ${sent++}`));
    }, 1);
    await expect.poll(() => sent).toBeGreaterThan(200);
    await server.kill();
    await server.restart();
    const restarted = sent;
    await expect.poll(() => sent).toBeGreaterThan(restarted + 200);
    clearInterval(load);
    await Promise.all(calls);
    await using redis = await rawRedis(server.url);
    expect(Object.keys(await notes(redis))).toHaveLength(sent);
  });

  it.each([["NORMAL"], ["PUBSUB"]])("survives CLIENT KILL TYPE %s, and hears its channels again", async (type) => {
    const heard: string[] = [];
    await supervisor.subscribe("channel", (message) => heard.push(String(message)));
    await write("a");
    for (let round = 1; round <= 3; round++) {
      const recovered = type === "PUBSUB" ? ready() : undefined;
      // A connection of RESP3 that listens counts as one of pub/sub.
      await direct.command("CLIENT", "KILL", "TYPE", type);
      await recovered;
      await write(`b${round}`);
      await direct.command("PUBLISH", "channel", `round ${round}`);
      await expect.poll(() => heard).toHaveLength(round);
    }
  });

  it("loads a script once for all callers after SCRIPT FLUSH, on each connection", async () => {
    await write("a");
    for (let round = 1; round <= 2; round++) {
      await direct.command("SCRIPT", "FLUSH");
      await direct.command("CONFIG", "RESETSTAT");
      await Promise.all(Array.from({ length: 100 }, (_, index) => write(`round ${round}, ${index}`)));
      const statistics = String(await direct.text("INFO", "commandstats"));
      expect(/cmdstat_script\|load:calls=(\d+)/.exec(statistics)?.[1]).toBe("1");
    }
    expect(Object.keys(await notes(direct))).toHaveLength(201);
    expect(states).toEqual(["ready"]);
  });

  it("replaces a connection to a server that is frozen for longer than the watchdog waits", async () => {
    await write("a");
    const lost = new Promise<number>((resolve) =>
      supervisor.onState((state) => state === "recovering" && resolve(performance.now())),
    );
    server.pause();
    const frozenAt = performance.now();
    // This process may not get to run meanwhile.
    await using stall = new StallWatch(async () => {});
    const call = write("b");
    const detectedAfter = (await lost) - frozenAt;
    expect(detectedAfter).toBeGreaterThan(1_900);
    expect(detectedAfter).toBeLessThan(2_500 + 2 * stall.longest());
    server.continue();
    expect(await call).toMatchObject({ uncertain: true });
  });

  it("works within 5 s after a black hole of 5 s has healed", { timeout: 30_000 }, async () => {
    const heard: string[] = [];
    await supervisor.subscribe("channel", (message) => heard.push(String(message)));
    await write("a");
    proxy.blackHole();
    const call = write("b");
    await new Promise((resolve) => setTimeout(resolve, 5_000));
    const healedAt = performance.now();
    proxy.heal();
    await call;
    expect(performance.now() - healedAt).toBeLessThan(5_000);
    await direct.command("PUBLISH", "channel", "through");
    await expect.poll(() => heard).toEqual(["through"]);
  });

  it("has a request refused that was held back for longer than it may run", { timeout: 30_000 }, async () => {
    await write("a");
    const held = proxy.plan("hold", runs(note));
    // The call is repeated on another connection while its first request is still on its way.
    expect(await write("b")).toMatchObject({ reply: [expect.anything(), 1], uncertain: true });
    held.release();
    expect(String(await held.reply)).toMatch(/^TOOLATE \d+\.\d{3}$/);
    expect(await notes(direct)).toEqual({ a: 1, b: 1 });
  });

  it("keeps the connection when this process was blocked for longer than the watchdog waits", async () => {
    await write("a");
    // Far enough away that turns of the event loop alone do not bring the replies.
    proxy.delay(50);
    const sent = write("before the process blocks");
    // Until the command is handed over, but not yet written.
    await new Promise((resolve) => process.nextTick(resolve));
    const until = performance.now() + 3_000;
    while (performance.now() < until);
    await Promise.all([sent, write("after it")]);
    expect(states).toEqual(["ready"]);
    expect(proxy.accepted).toBe(1);
  });

  it("keeps the connection when this process blocks while the reply is on its way", async () => {
    const undisturbed = supervise(client, server.url);
    const heard = vi.fn<() => void>();
    await undisturbed.evaluate(note, ["notes"], ["a"]);
    undisturbed.onState(heard);
    const sent = undisturbed.evaluate(note, ["notes"], ["b"]);
    // Until the request is written, but not yet answered.
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    const until = performance.now() + 3_000;
    while (performance.now() < until);
    expect(await sent).toMatchObject({ uncertain: false });
    expect(heard).not.toHaveBeenCalled();
    await undisturbed.close();
  });

  it("keeps the connection when the reply came at the last moment, while this process was blocked", async () => {
    const undisturbed = supervise(client, server.url);
    const heard = vi.fn<() => void>();
    await undisturbed.evaluate(note, ["notes"], ["a"]);
    undisturbed.onState(heard);
    server.pause();
    const sent = undisturbed.evaluate(note, ["notes"], ["b"]);
    await new Promise((resolve) => setTimeout(resolve, 1_900));
    // From here the event loop goes on to its timers before it reads.
    await new Promise((resolve) => setImmediate(resolve));
    server.continue();
    const until = performance.now() + 500;
    while (performance.now() < until);
    expect(await sent).toMatchObject({ uncertain: false });
    expect(heard).not.toHaveBeenCalled();
    await undisturbed.close();
  });

  it("takes the reply of a call whose time ran out while this process was blocked", async () => {
    const undisturbed = supervise(client, server.url);
    await undisturbed.evaluate(note, ["notes"], ["a"]);
    const sent = undisturbed.evaluate(note, ["notes"], ["b"], { timeout: 300 });
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    const until = performance.now() + 1_000;
    while (performance.now() < until);
    expect(await sent).toMatchObject({ uncertain: false });
    await undisturbed.close();
  });

  it("waits for a server that is refusing connections, and says where it cannot be reached", async () => {
    proxy.refuse();
    const tooShort = await failureOf(supervisor.evaluate(note, ["notes"], ["a"], { timeout: 100 }));
    expect(tooShort).toMatchObject({ code: "not-sent", message: expect.stringContaining(proxy.url) });
    const call = write("b");
    await expect.poll(() => states).toEqual(["recovering"]);
    proxy.heal();
    expect(await call).toMatchObject({ uncertain: false });
    expect(states).toEqual(["recovering", "ready"]);
    expect(await notes(direct)).toEqual({ b: 1 });
  });

  it("restores its channels before it says that it is ready", async () => {
    const heard: string[] = [];
    await supervisor.subscribe("channel", (message) => heard.push(String(message)));
    const receivers = new Promise((resolve) =>
      supervisor.onState((state) => state === "ready" && resolve(direct.command("PUBLISH", "channel", "first"))),
    );
    proxy.cut();
    expect(await receivers).toBe(1);
    await expect.poll(() => heard).toEqual(["first"]);
  });

  it("hears a channel that was asked for while the server was out of reach before it says that it is ready", async () => {
    proxy.refuse();
    const subscribed = supervisor.subscribe("channel", () => {});
    const receivers = new Promise((resolve) =>
      supervisor.onState((state) => state === "ready" && resolve(direct.command("PUBSUB", "NUMSUB", "channel"))),
    );
    await expect.poll(() => states).toEqual(["recovering"]);
    // So far away that the answer to SUBSCRIBE would come after that to the question.
    proxy.heal();
    proxy.delay(30);
    expect(await receivers).toEqual([Buffer.from("channel"), 1]);
    await subscribed;
  });

  it("subscribes on the next connection when the first is lost meanwhile", async () => {
    await write("a");
    const lost = proxy.plan("cut-before-reply", isCommand("SUBSCRIBE"));
    const heard: string[] = [];
    await supervisor.subscribe("channel", (message) => heard.push(String(message)));
    await lost.happened;
    await direct.command("PUBLISH", "channel", "once");
    await expect.poll(() => heard).toEqual(["once"]);
  });
});

describe.each(currentClients)("a call on $name that gives up", (client) => {
  beforeEach(() => begin(client));

  it("is not-sent while nothing could be sent", async () => {
    proxy.blackHole();
    expect(await failureOf(supervisor.evaluate(note, ["notes"], ["a"], { timeout: 300 }))).toMatchObject({
      code: "not-sent",
    });
  });

  it("is outcome-unknown when its time is over before a reply came, and does not run later", async () => {
    await write("a");
    const held = proxy.plan("hold", runs(note));
    expect(await failureOf(supervisor.evaluate(note, ["notes"], ["b"], { timeout: 200 }))).toMatchObject({
      code: "outcome-unknown",
    });
    const notAfter = Number((await held.happened).args[3]);
    await new Promise<void>((resolve) => supervisor.clock.runAt(notAfter + 1, resolve));
    held.release();
    expect(String(await held.reply)).toMatch(/^TOOLATE/);
    expect(await notes(direct)).toEqual({ a: 1 });
  });

  it("says of an aborted call that it was not sent, with the reason of the caller, not that the server is out of reach", async () => {
    await write("a");
    const reason = new Error("the request was dropped");
    const call = supervisor.evaluate(note, ["notes"], ["b"], { signal: AbortSignal.abort(reason) });
    expect(await failureOf(call)).toMatchObject({
      code: "not-sent",
      cause: reason,
      message: expect.stringMatching(/^The call was aborted before it was sent to /),
    });
  });

  it("gives up at once when its signal aborts", async () => {
    await write("a");
    const early = AbortSignal.abort();
    expect(await failureOf(supervisor.evaluate(note, ["notes"], ["b"], { signal: early }))).toMatchObject({
      code: "not-sent",
    });
    const held = proxy.plan("hold", runs(note));
    const controller = new AbortController();
    const late = failureOf(supervisor.evaluate(note, ["notes"], ["b"], { signal: controller.signal }));
    await held.happened;
    controller.abort();
    expect(await late).toMatchObject({ code: "outcome-unknown" });
  });
});
