import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { EngineQueue } from "../../../src/engine.js";
import { zsetListEngine } from "../../../src/engines/zset-list/engine.js";
import { newMessage } from "../../../src/testing/conformance/stage.js";
import { closedAtEnd } from "../../support/closed-at-end.js";
import { FaultProxy, isCommand } from "../../support/fault-proxy.js";
import { withRedis } from "../../support/with-redis.js";

// A hand: the list into which a reliable consumer pops when it blocks, until its next claim.

const redis = withRedis();
const deaf = { wake() {}, postpone() {}, interrupted() {}, recovered() {} };
let proxy: FaultProxy;
let names = 0;

beforeAll(async () => {
  proxy = await FaultProxy.start(redis.server.port);
});
afterAll(() => proxy[Symbol.asyncDispose]());
afterEach(() => redis.raw.command("ACL", "SETUSER", "default", "+@all"));

const setRights = (rights: string) => redis.raw.command("ACL", "SETUSER", "default", rights);

function claim(queue: EngineQueue, consumer: string, limit = 10) {
  return queue.claim({ limit, lease: 10_000, consumer, token: `${consumer}-${++names}`, attempts: 5 });
}

/** How many are scheduled or due: "soon" may be either on a busy machine. */
async function waiting(queue: EngineQueue): Promise<number> {
  const { scheduled, due } = await queue.counts();
  return scheduled + due;
}

async function blocked(): Promise<number> {
  return [...String(await redis.raw.text("CLIENT", "LIST")).matchAll(/ flags=\w*b\w* /g)].length;
}

/** A consumer that blocks on the list, since one on duty and a deputy look out for what comes due soon. */
async function blocking() {
  const name = `hands-${++names}`;
  const others = closedAtEnd(zsetListEngine({ url: redis.url, reliable: true })).open(name);
  for (const consumer of ["duty", "deputy"]) {
    const other = await others.watch(consumer, deaf);
    onTestFinished(() => other[Symbol.asyncDispose]());
    await claim(others, consumer);
  }
  const queue = closedAtEnd(zsetListEngine({ url: proxy.url, reliable: true })).open(name);
  const watch = await queue.watch("third", deaf);
  onTestFinished(() => watch[Symbol.asyncDispose]());
  await claim(queue, "third");
  await others.schedule([newMessage("soon", { due: { delay: 400 } })]);
  const claiming = claim(queue, "third");
  await expect.poll(blocked).toBe(1);
  const key = (part: string) => `{punctual:${name}}:zset-list:reliable:${part}`;
  return { others, watch, claiming, key };
}

/** It has popped one of two messages, and the claim that is to lease that one is held on its way. */
async function popped() {
  const scene = await blocking();
  const { others } = scene;
  const held = proxy.plan("hold", isCommand("EVALSHA"));
  await others.schedule(["a", "b"].map((id) => newMessage(id)));
  await claim(others, "duty", 1);
  await held.happened;
  return { ...scene, held };
}

describe("The hand of a consumer that leaves", () => {
  it("is forgotten at once when it popped nothing.", async () => {
    const { watch, claiming, key } = await blocking();
    expect((await claiming).messages).toEqual([]);
    expect(await redis.raw.command("ZCARD", key("hands"))).toBe(1);
    await watch[Symbol.asyncDispose]();
    expect(await redis.raw.command("EXISTS", key("hands"), key("hand:third"))).toBe(0);
  });

  it("is forgotten by its next claim when it stays.", async () => {
    const { claiming, key, others } = await blocking();
    await claiming;
    await claim(others, "third", 0);
    expect(await redis.raw.command("EXISTS", key("hands"))).toBe(0);
  });

  it("is emptied at once when its claim failed: what it popped is due again, without an attempt.", async () => {
    const { others, watch, claiming, held, key } = await popped();
    await setRights("-evalsha");
    held.release();
    await expect(claiming).rejects.toMatchObject({ code: "misconfigured" });
    await setRights("+@all");
    await watch[Symbol.asyncDispose]();
    expect(await redis.raw.command("EXISTS", key("hands"), key("hand:third"))).toBe(0);
    const { messages } = await claim(others, "duty");
    expect(messages.map(({ id, attempt }) => [id, attempt])).toContainEqual(["b", 1]);
  });

  it("is emptied, and looked at again, when the reply to its pop was lost: it may pop yet.", async () => {
    const { others, watch, claiming, key } = await blocking();
    proxy.cut();
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
