import { describe, expect, it, onTestFinished } from "vitest";
import type { EngineQueue } from "../../../src/engine.js";
import { zsetListEngine } from "../../../src/engines/zset-list/engine.js";
import { newMessage } from "../../../src/testing/conformance/stage.js";
import { withRedis } from "../../support/with-redis.js";

const redis = withRedis();
const deaf = { wake() {}, postpone() {}, interrupted() {}, recovered() {} };
let queues = 0;

function open(reliable: boolean): { queue: EngineQueue; base: string } {
  const engine = zsetListEngine({ url: redis.url, reliable });
  onTestFinished(() => engine.close());
  const name = `list-wait-${++queues}`;
  return { queue: engine.open(name), base: `{punctual:${name}}:zset-list${reliable ? ":reliable" : ""}` };
}

function claim(queue: EngineQueue, consumer: string, limit = 10) {
  return queue.claim({ limit, lease: 10_000, consumer, token: `${consumer}-${++queues}`, attempts: 5 });
}

async function blocked(): Promise<number> {
  const list = String(await redis.raw.text("CLIENT", "LIST"));
  return [...list.matchAll(/ flags=\w*b\w* /g)].length;
}

/** Three consumers, of which one is on duty for a message that comes due soon, and one its deputy. */
async function threeConsumers(queue: EngineQueue, delay: number): Promise<void> {
  for (const consumer of ["duty", "deputy", "third"]) {
    const watch = await queue.watch(consumer, deaf);
    onTestFinished(() => watch[Symbol.asyncDispose]());
  }
  await claim(queue, "duty");
  await claim(queue, "deputy");
  // When all are connected, so that it is still to come when the third one claims.
  await queue.schedule([newMessage("soon", { due: { delay } })]);
}

describe.each([false, true])("A consumer that is not on duty, reliable: %s,", (reliable) => {
  it("blocks on the list while a message comes due soon, and gets what another one moves there.", async () => {
    const { queue } = open(reliable);
    await threeConsumers(queue, 400);
    const waiting = claim(queue, "third");
    await expect.poll(blocked).toBe(1);
    await queue.schedule(["a", "b", "c"].map((id) => newMessage(id)));
    // It has room for one, and moves all.
    const [mover, got] = await Promise.all([claim(queue, "duty", 1), waiting]);
    expect(mover.messages.map(({ id }) => id)).toHaveLength(1);
    expect([...mover.messages, ...got.messages].map(({ id }) => id).toSorted()).toEqual(["a", "b", "c"]);
  });

  it("does not block while nothing comes due soon.", async () => {
    const { queue } = open(reliable);
    await threeConsumers(queue, 3_000);
    const { now, nextAt } = await claim(queue, "third");
    expect(nextAt - now).toBeGreaterThan(4_900);
    expect(await redis.raw.text("CLIENT", "LIST")).not.toMatch(/cmd=(brpop|blmove)/);
  });

  it("is let go at once when it is put on duty.", async () => {
    const { queue } = open(reliable);
    await queue.schedule([newMessage("soon", { due: { delay: 400 } })]);
    const duty = await queue.watch("duty", deaf);
    const deputy = await queue.watch("deputy", deaf);
    let woken = 0;
    const third = await queue.watch("third", { ...deaf, wake: () => (woken = performance.now()) });
    onTestFinished(() => third[Symbol.asyncDispose]());
    await claim(queue, "duty");
    await claim(queue, "deputy");
    const waiting = claim(queue, "third").then(() => performance.now());
    await expect.poll(blocked).toBe(1);
    // Each leaves what it looked after to another one.
    await deputy[Symbol.asyncDispose]();
    await duty[Symbol.asyncDispose]();
    const returned = await waiting;
    expect(woken).toBeGreaterThan(0);
    expect(returned - woken).toBeLessThan(100);
  });

  it("gets nothing from the list in a pause.", async () => {
    const { queue, base } = open(reliable);
    await threeConsumers(queue, 400);
    await queue.schedule(["a", "b", "c"].map((id) => newMessage(id)));
    await claim(queue, "duty", 1);
    expect(await redis.raw.command("LLEN", `${base}:ready`)).toBe(2);
    await queue.pause();
    expect(await redis.raw.command("LLEN", `${base}:ready`)).toBe(0);
    expect((await claim(queue, "third")).messages).toEqual([]);
    expect(await queue.counts()).toMatchObject({ due: 2, paused: true });
    await queue.resume();
    expect((await claim(queue, "third")).messages.map(({ id }) => id).toSorted()).toEqual(["b", "c"]);
  });
});

it.each([
  ["client|id", false],
  ["client|id", true],
  ["brpop", false],
  ["blmove", true],
] as const)("A consumer without the right to %s claims without blocking, reliable: %s", async (command, reliable) => {
  await redis.raw.command("ACL", "LOG", "RESET");
  await redis.raw.command("ACL", "SETUSER", "default", `-${command}`);
  onTestFinished(() => void redis.raw.command("ACL", "SETUSER", "default", "+@all"));
  const { queue } = open(reliable);
  await threeConsumers(queue, 450);
  for (let times = 0; times < 3; times++) {
    const { messages, nextAt, now } = await claim(queue, "third");
    expect([messages, nextAt > now]).toEqual([[], true]);
  }
  // It was refused once, and has not asked again.
  const refusals = ((await redis.raw.text("ACL", "LOG")) as unknown[][]).filter((entry) => entry.includes(command));
  expect(refusals.map((entry) => entry[entry.indexOf("count") + 1])).toEqual([1]);
});

describe("What a reliable consumer popped and never claimed", () => {
  it("is put back when its time is over, without an attempt, and its hand is forgotten.", async () => {
    const { queue, base } = open(true);
    await queue.schedule(["a", "b"].map((id) => newMessage(id)));
    await claim(queue, "next", 1);
    // As the process does that is killed right after it has popped.
    await redis.raw.command("ZADD", `${base}:hands`, Date.now() + 300, "killed");
    await redis.raw.command("LMOVE", `${base}:ready`, `${base}:hand:killed`, "RIGHT", "LEFT");
    const seen: [string, number][] = [];
    const empty: number[] = [];
    for (let at = 0; seen.length < 1;) {
      await new Promise((resolve) => setTimeout(resolve, at));
      const { messages, now, nextAt } = await claim(queue, "next");
      seen.push(...messages.map(({ id, attempt }): [string, number] => [id, attempt]));
      if (seen.length === 0) empty.push(nextAt - now);
      at = Math.max(nextAt - now, 5);
    }
    expect(seen).toEqual([["b", 1]]);
    // The one on duty looks when the hand is overdue, not at its next poll.
    expect(Math.max(...empty)).toBeLessThan(400);
    expect(await redis.raw.command("EXISTS", `${base}:hand:killed`)).toBe(0);
    // It is looked at once more after a minute.
    const again = Number(await redis.raw.text("ZSCORE", `${base}:hands`, "killed"));
    expect(again).toBeGreaterThan(Date.now() + 55_000);
    await redis.raw.command("ZADD", `${base}:hands`, Date.now() - 0.5, "killed");
    await expect
      .poll(async () => {
        await claim(queue, "next", 0);
        return await redis.raw.command("EXISTS", `${base}:hands`);
      })
      .toBe(0);
  });

  it("is delivered to itself when it is alive, although it was rescheduled meanwhile, at the new time.", async () => {
    const { queue, base } = open(true);
    await queue.schedule(["a", "b"].map((id) => newMessage(id)));
    await claim(queue, "mover", 1);
    await redis.raw.command("LMOVE", `${base}:ready`, `${base}:hand:me`, "RIGHT", "LEFT");
    expect(await queue.get(["b"])).toMatchObject([{ state: "due" }]);
    expect(await queue.reschedule([{ id: "b", due: { delay: 300 } }])).toEqual(["rescheduled"]);
    expect((await claim(queue, "me")).messages).toEqual([]);
    await expect.poll(async () => (await claim(queue, "me")).messages.map(({ id }) => id)).toEqual(["b"]);
  });
});
