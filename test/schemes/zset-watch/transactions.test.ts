import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { EngineQueue } from "../../../src/engine.js";
import { zsetWatchEngine } from "../../../src/engines/zset-watch/engine.js";
import { closedAtEnd } from "../../support/closed-at-end.js";
import { FaultProxy, isCommand } from "../../support/fault-proxy.js";
import { withRedis } from "../../support/with-redis.js";

const redis = withRedis();
let proxy: FaultProxy;
let claims = 0;

beforeAll(async () => {
  proxy = await FaultProxy.start(redis.server.port);
});
afterAll(() => proxy[Symbol.asyncDispose]());
afterEach(async () => {
  await redis.raw.command("ACL", "SETUSER", "default", "+@all");
  await redis.raw.command("FLUSHALL");
});

const open = (url: string): EngineQueue => closedAtEnd(zsetWatchEngine({ url })).open("q");

const message = (id: string) => ({ id, payload: Buffer.from("x"), due: { delay: 0 }, onDuplicate: "keep" as const });

async function put(queue: EngineQueue, ...ids: string[]): Promise<void> {
  await queue.schedule(ids.map(message));
}

async function take(queue: EngineQueue): Promise<string[]> {
  const request = { limit: 100, lease: 60_000, consumer: "c", token: `${++claims}`, attempts: 5 };
  return (await queue.claim(request)).messages.map(({ id }) => id);
}

/** How often a command was refused or run since the last FLUSHALL of the statistics. */
async function calls(command: string): Promise<number> {
  const stats = String(await redis.raw.text("INFO", "commandstats"));
  return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`, "u").exec(stats)?.[1] ?? 0);
}

describe("A transaction", () => {
  it("that meets a change begins again, and removes nothing that it has not read", async () => {
    const [slow, other] = [open(proxy.url), open(redis.url)];
    await put(other, "a");
    await redis.raw.command("CONFIG", "RESETSTAT");
    const exec = proxy.plan("hold", isCommand("EXEC"));
    const taking = take(slow);
    await exec.happened;
    await put(other, "b");
    exec.release();
    expect(await taking).toEqual(["a", "b"]);
    expect(await take(other)).toEqual([]);
    // The one that failed, and the one that took both.
    expect(await calls("exec")).toBe(2);
  });

  it("that somebody else was faster than gives nothing of what that one took", async () => {
    const [slow, fast] = [open(proxy.url), open(redis.url)];
    await put(fast, "a");
    const exec = proxy.plan("hold", isCommand("EXEC"));
    const taking = take(slow);
    await exec.happened;
    expect(await take(fast)).toEqual(["a"]);
    exec.release();
    expect(await taking).toEqual([]);
  });

  it("whose EXEC lost its reply fails with outcome-unknown, and what it removed is never delivered twice", async () => {
    const queue = open(proxy.url);
    await put(queue, "a");
    const lost = proxy.plan("cut-before-reply", isCommand("EXEC"));
    await expect(take(queue)).rejects.toMatchObject({ code: "outcome-unknown" });
    await lost.happened;
    await put(queue, "b");
    expect(await take(queue)).toEqual(["b"]);
  });

  it("whose EXEC lost its reply has what is gone counted as given up, and told; nothing that is still there", async () => {
    const dropped: unknown[] = [];
    const queue = closedAtEnd(zsetWatchEngine({ url: proxy.url })).open("q", { onDropped: (one) => dropped.push(one) });
    await queue.schedule(["a", "b"].map(message));
    const unsent = proxy.plan("cut-before-request", isCommand("EXEC"));
    await expect(take(queue)).rejects.toMatchObject({ code: "outcome-unknown" });
    await unsent.happened;
    const lost = proxy.plan("cut-before-reply", isCommand("EXEC"));
    await expect(take(queue)).rejects.toMatchObject({ code: "outcome-unknown" });
    await lost.happened;
    await expect.poll(() => dropped).toEqual([{ ids: ["a", "b"], total: 2 }]);
  });

  it("is not begun when MULTI is refused: nothing is removed, and when it is allowed all is delivered", async () => {
    const queue = open(redis.url);
    await put(queue, "a");
    await redis.raw.command("ACL", "SETUSER", "default", "-multi");
    await expect(take(queue)).rejects.toMatchObject({ code: "misconfigured" });
    expect((await queue.counts()).due).toBe(1);
    await redis.raw.command("ACL", "SETUSER", "default", "+multi");
    expect(await take(queue)).toEqual(["a"]);
  });

  it("leaves its connection in none, whether something was due, nothing, or it could not be read", async () => {
    const queue = open(redis.url);
    const base = "{punctual:q}:zset-watch:schedule";
    await put(queue, "a");
    expect(await take(queue)).toEqual(["a"]);
    expect(await take(queue)).toEqual([]);
    await redis.raw.command("ZADD", base, 1, "of somebody else");
    await expect(take(queue)).rejects.toThrow("not in the format of this library");
    const clients = String(await redis.raw.text("CLIENT", "LIST"));
    expect(clients.match(/multi=-1/gu)).toHaveLength(clients.trim().split("\n").length);
    await redis.raw.command("DEL", base);
    await put(queue, "b");
    expect(await take(queue)).toEqual(["b"]);
  });

  it("has a connection of its own: while it waits for its answer everything else goes on", async () => {
    const queue = open(proxy.url);
    await put(queue, "a");
    const exec = proxy.plan("hold", isCommand("EXEC"));
    const taking = take(queue);
    await exec.happened;
    await put(queue, "b");
    expect((await queue.counts()).due).toBe(2);
    exec.release();
    expect(await taking).toEqual(["a", "b"]);
  });

  it("of one claim is over before that of the next begins, on one connection", async () => {
    const queue = open(redis.url);
    await put(queue, ...Array.from({ length: 300 }, (_, index) => `m-${index}`));
    await redis.raw.command("CONFIG", "RESETSTAT");
    const taken = await Promise.all(Array.from({ length: 30 }, () => take(queue)));
    expect(new Set(taken.flat()).size).toBe(300);
    expect(taken.flat()).toHaveLength(300);
    expect(await calls("discard")).toBeLessThan(31);
  });
});
