import { describe, expect, it } from "vitest";
import { blockingConsumers } from "./blocking-consumers.js";

// A hand: the list into which a reliable consumer pops when it blocks, until its next claim.

const { redis, claim, blocking, popped, setRights, cut, waiting } = blockingConsumers({ reliable: true });

const exists = (...keys: readonly string[]) => redis.raw.command("EXISTS", ...keys);

/** Names the keys of a queue, by their parts. */
const keysOf = (name: string) => (part: string) => `{punctual:${name}}:zset-list:reliable:${part}`;

describe("The hand of a consumer that leaves", () => {
  it("is forgotten at once when it popped nothing.", async () => {
    const { watch, claiming, name } = await blocking();
    const key = keysOf(name);
    expect((await claiming).messages).toEqual([]);
    expect(await redis.raw.command("ZCARD", key("hands"))).toBe(1);
    await watch[Symbol.asyncDispose]();
    expect(await exists(key("hands"), key("hand:third"))).toBe(0);
  });

  it("is forgotten by its next claim when it stays.", async () => {
    const { claiming, name, others } = await blocking();
    const key = keysOf(name);
    await claiming;
    await claim(others, "third", 0);
    expect(await exists(key("hands"))).toBe(0);
  });

  it("is emptied at once when its claim failed: what it popped is due again, without an attempt.", async () => {
    const { others, watch, claiming, held, name } = await popped();
    const key = keysOf(name);
    await setRights("-evalsha");
    held.release();
    await expect(claiming).rejects.toMatchObject({ code: "misconfigured" });
    await setRights("+@all");
    await watch[Symbol.asyncDispose]();
    expect(await exists(key("hands"), key("hand:third"))).toBe(0);
    const { messages } = await claim(others, "duty");
    expect(messages.map(({ id, attempt }) => [id, attempt])).toContainEqual(["b", 1]);
  });

  it("is emptied, and looked at again, when the reply to its pop was lost: it may pop yet.", async () => {
    const { others, watch, claiming, name } = await blocking();
    const key = keysOf(name);
    cut();
    await expect(claiming).rejects.toMatchObject({ code: "outcome-unknown" });
    await watch[Symbol.asyncDispose]();
    expect(await redis.raw.command("ZCARD", key("hands"))).toBe(1);
    expect(await waiting(others)).toBe(1);
  });
});

describe("What a consumer has popped and not claimed yet", () => {
  it("counts as due, and is purged with what waits.", async () => {
    const { others, claiming, held } = await popped();
    expect(await waiting(others)).toBe(2);
    expect(await others.purge("waiting")).toBe(2);
    expect(await others.counts()).toMatchObject({ scheduled: 0, due: 0, leased: 1 });
    held.release();
    expect((await claiming).messages).toEqual([]);
    expect(await others.audit()).toMatchObject({ ok: true });
  });
});
