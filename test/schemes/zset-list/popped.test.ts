import { describe, expect, it } from "vitest";
import { blockingConsumers } from "./blocking-consumers.js";

const { claim, popped, setRights, waiting } = blockingConsumers({ reliable: false });

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
