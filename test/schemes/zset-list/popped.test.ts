import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { EngineQueue, OpenOptions } from "../../../src/engine.js";
import { zsetListEngine } from "../../../src/engines/zset-list/engine.js";
import { newMessage } from "../../../src/testing/conformance/stage.js";
import { closedAtEnd } from "../../support/closed-at-end.js";
import { FaultProxy, isCommand } from "../../support/fault-proxy.js";
import { withRedis } from "../../support/with-redis.js";

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

/** A consumer that has popped a message when it blocked, and whose claim that is to give it out is held on its way. */
async function popped(options?: OpenOptions) {
  const name = `popped-${++names}`;
  const others = closedAtEnd(zsetListEngine({ url: redis.url })).open(name);
  for (const consumer of ["duty", "deputy"]) {
    const other = await others.watch(consumer, deaf);
    onTestFinished(() => other[Symbol.asyncDispose]());
    await claim(others, consumer);
  }
  const engine = closedAtEnd(zsetListEngine({ url: proxy.url }));
  const queue = engine.open(name, options);
  const watch = await queue.watch("third", deaf);
  await claim(queue, "third");
  // When all are connected, so that it is still to come when the third one claims.
  await others.schedule([newMessage("soon", { due: { delay: 400 } })]);
  const claiming = claim(queue, "third");
  await expect.poll(blocked).toBe(1);
  const held = proxy.plan("hold", isCommand("EVALSHA"));
  await others.schedule(["a", "b"].map((id) => newMessage(id)));
  const [left] = (await claim(others, "duty", 1)).messages;
  await held.happened;
  const id = left?.id === "a" ? "b" : "a";
  return { engine, name, others, queue, watch, claiming, held, id };
}

describe("What a consumer popped when it blocked", () => {
  it("is put back when there is a pause by the time it is to be given out.", async () => {
    const { others, claiming, held, id, watch } = await popped();
    await others.pause();
    held.release();
    expect((await claiming).messages).toEqual([]);
    await others.resume();
    await expect.poll(async () => (await claim(others, "duty")).messages.map((one) => one.id)).toContain(id);
    await watch[Symbol.asyncDispose]();
  });

  it("is given to whoever claims next when that claim fails, also by another queue object of its engine.", async () => {
    const { engine, name, claiming, held, id, watch } = await popped();
    await setRights("-evalsha");
    held.release();
    await expect(claiming).rejects.toMatchObject({ code: "misconfigured" });
    await setRights("+@all");
    expect((await claim(engine.open(name), "fourth")).messages.map((one) => one.id)).toContain(id);
    await watch[Symbol.asyncDispose]();
  });

  it("is put back when that claim fails and its consumer leaves.", async () => {
    const { others, claiming, held, id, watch } = await popped();
    await setRights("-evalsha");
    held.release();
    await expect(claiming).rejects.toMatchObject({ code: "misconfigured" });
    await setRights("+@all");
    await watch[Symbol.asyncDispose]();
    expect((await claim(others, "duty")).messages.map((one) => one.id)).toContain(id);
  });

  it("counts as due while it waits to be given out, once.", async () => {
    const { queue, claiming, held, watch } = await popped();
    expect(await waiting(queue)).toBe(2);
    held.release();
    expect((await claiming).messages).toHaveLength(1);
    expect(await waiting(queue)).toBe(1);
    expect(await queue.counts()).toMatchObject({ leased: 1 });
    await watch[Symbol.asyncDispose]();
  });

  it("is purged with what waits, and counted in that, though its claim is under way.", async () => {
    const { queue, claiming, held, watch } = await popped();
    expect(await queue.purge("waiting")).toBe(2);
    expect(await queue.counts()).toMatchObject({ scheduled: 0, due: 0, leased: 0 });
    held.release();
    expect((await claiming).messages).toEqual([]);
    await watch[Symbol.asyncDispose]();
    expect(await queue.counts()).toMatchObject({ scheduled: 0, due: 0, leased: 0 });
  });

  it("is purged before somebody puts it back, and stays away.", async () => {
    const { queue, others, claiming, held, watch } = await popped();
    await others.pause();
    await queue.purge("waiting");
    held.release();
    expect((await claiming).messages).toEqual([]);
    await watch[Symbol.asyncDispose]();
    expect(await others.counts()).toMatchObject({ scheduled: 0, due: 0 });
  });

  it("is told as dropped when it cannot be put back.", async () => {
    const told: (readonly string[])[] = [];
    const { claiming, held, id, watch } = await popped({ onDropped: ({ ids }) => void told.push(ids) });
    await setRights("-evalsha");
    held.release();
    await expect(claiming).rejects.toMatchObject({ code: "misconfigured" });
    await watch[Symbol.asyncDispose]();
    expect(told).toEqual([[id]]);
  });
});
