import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Delivery } from "../../../src/consumer/delivery.js";
import { redisEngine } from "../../../src/engines/redis/engine.js";
import { type Consumer, type ConsumeOptions, type Engine, Queue } from "../../../src/index.js";
import { closedAtEnd } from "../../support/closed-at-end.js";
import { withRedis } from "../../support/with-redis.js";
import { DoomedProcess, doomedProgram } from "./doomed-process.js";

/** Handlers that do what no handler should. What they throw is a matter of the conformance cases. */

const redis = withRedis();
let program: Awaited<ReturnType<typeof doomedProgram>>;
beforeAll(async () => {
  program = await doomedProgram();
});
afterAll(() => program[Symbol.asyncDispose]());

const far = 3_600_000;
/**
 * What a process held that has ended is due again when its lease is over, 1 s, and at most 1 s later; a machine that does much else
 * takes 1 s more, ms.
 */
const rescuedWithin = 3_000;

describe.each(["node-redis", "ioredis"] as const)("With %s", { timeout: 60_000 }, (library) => {
  let engine: Engine;
  let queue: Queue<string>;
  let name: string;
  let queues = 0;
  beforeEach(() => {
    engine = redisEngine({ url: redis.url, library });
    name = `${library}-${++queues}`;
    queue = new Queue<string>(name, { engine });
  });
  afterEach(() => engine.close());

  const doomed = (end: "exit" | "unhandled") =>
    closedAtEnd(new DoomedProcess(program.path, { url: redis.url, library, queue: name, end }));

  /** A consumer of this process, and when it was given what. */
  async function consumer(handle: (message: Delivery<string>) => unknown, options: ConsumeOptions = {}) {
    const deliveries: { id: string; attempt: number; at: number }[] = [];
    const consuming = closedAtEnd<Consumer<string>>(
      queue.consume((message) => {
        deliveries.push({ id: message.id, attempt: message.attempt, at: performance.now() });
        return handle(message);
      }, options),
    );
    await expect.poll(() => consuming.health().state).toBe("running");
    return { consuming, deliveries };
  }

  it.each([
    ["calls process.exit", "exit", 3],
    ["leaves a promise behind whose rejection ends the process", "unhandled", 1],
  ] as const)(
    "a handler that %s: all that its process held is delivered elsewhere, one attempt used",
    async (_, end, status) => {
      await queue.scheduleMany(["doom", "other"].map((id) => ({ payload: "", id, delay: 0 })));
      const victim = doomed(end);
      await victim.has("doom", "other");
      const { deliveries } = await consumer(() => {});
      expect(await victim.meetsItsEnd()).toBe(status);
      const endedAt = performance.now();
      await expect.poll(() => deliveries.length).toBe(2);
      expect(new Set(deliveries.map(({ id, attempt }) => `${id} ${attempt}`))).toEqual(new Set(["doom 2", "other 2"]));
      for (const { at } of deliveries) expect(at - endedAt).toBeLessThan(rescuedWithin);
      await expect.poll(() => queue.counts()).toMatchObject({ scheduled: 0, due: 0, leased: 0, dead: 0 });
    },
  );

  it("a message that is the end of each process that handles it is dead when its attempts are used, and kills no more", async () => {
    await queue.schedule("", { id: "doom", delay: 0, attempts: 2 });
    for (let attempt = 1; attempt <= 2; attempt++) {
      const victim = doomed("exit");
      await victim.has("doom");
      expect(await victim.meetsItsEnd()).toBe(3);
    }
    const { deliveries } = await consumer(() => {});
    await expect.poll(async () => (await queue.get("doom"))?.state).toBe("dead");
    expect(await queue.get("doom")).toMatchObject({ attempt: 2, buried: { reason: "attempts" } });
    expect(deliveries).toEqual([]);
  });

  it("a handler that never settles, without a time-out, keeps its lease while others work, and closing hands its message back", async () => {
    const handle = ({ id }: Delivery<string>) => id === "stuck" && new Promise(() => {});
    // Extended when a third of it is over, so that it outlasts a stall of 2 s.
    const lease = 3_000;
    const { consuming, deliveries } = await consumer(handle, { concurrency: 2, lease });
    await queue.schedule("", { id: "stuck", delay: 0 });
    await expect.poll(() => deliveries.length).toBe(1);
    const firstEnd = (await queue.get("stuck"))?.leaseUntil?.getTime() ?? 0;
    const end = async () => (await queue.get("stuck"))?.leaseUntil?.getTime();
    await expect.poll(end).toBeGreaterThan(firstEnd + lease);
    await queue.schedule("", { id: "next", delay: 0 });
    await expect.poll(() => deliveries.map(({ id }) => id)).toEqual(["stuck", "next"]);
    await consuming.close({ timeout: 0 });
    expect(await queue.get("stuck")).toMatchObject({ state: "due", attempt: 0 });
  });

  it("a handler that never settles in its time-out, time and again, has its message dead with that as its error", async () => {
    const retry = { attempts: 2, backoff: () => 0 };
    const { deliveries } = await consumer(() => new Promise(() => {}), { timeout: 200, retry });
    await queue.schedule("", { id: "stuck", delay: 0 });
    await expect.poll(async () => (await queue.get("stuck"))?.state).toBe("dead");
    expect(deliveries.map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect((await queue.get("stuck"))?.lastError?.message).toMatch(/ran longer than its time-out of 200 ms/);
  });

  it.each([
    [
      "rejects twice",
      (_: () => void, reject: (error: Error) => void) => [1, 2].forEach((n) => reject(new Error(`no. ${n}`))),
    ],
    [
      "rejects and then resolves",
      (resolve: () => void, reject: (error: Error) => void) => {
        reject(new Error("no. 1"));
        resolve();
      },
    ],
  ])("a handler whose promise %s has failed once, with the first error", async (_, settle) => {
    // What a library may return instead of a promise; a real promise would hide the second time.
    // oxlint-disable-next-line unicorn/no-thenable -- that it is none of the language is what this is about
    const twice = { then: (resolve: () => void, reject: (error: Error) => void) => settle(resolve, reject) };
    const { consuming, deliveries } = await consumer(() => twice, { retry: { backoff: () => far } });
    const told: string[] = [];
    consuming.on("retried", () => told.push("retried")).on("acknowledged", () => told.push("acknowledged"));
    await queue.schedule("", { id: "m", delay: 0 });
    await expect.poll(async () => (await queue.get("m"))?.lastError?.message).toBe("no. 1");
    expect(await queue.get("m")).toMatchObject({ state: "scheduled", attempt: 1 });
    await consuming.close();
    expect(told).toEqual(["retried"]);
    expect(deliveries).toHaveLength(1);
  });

  it("a handler whose promise resolves and then rejects has its message done, once", async () => {
    const twice = {
      // oxlint-disable-next-line unicorn/no-thenable -- the same
      then(resolve: () => void, reject: (error: Error) => void) {
        resolve();
        reject(new Error("too late"));
      },
    };
    const { consuming } = await consumer(() => twice);
    const told: string[] = [];
    consuming.on("retried", () => told.push("retried")).on("acknowledged", () => told.push("acknowledged"));
    await queue.schedule("", { id: "m", delay: 0 });
    await expect.poll(() => told).toEqual(["acknowledged"]);
    await consuming.close();
    expect(told).toEqual(["acknowledged"]);
    expect(await queue.get("m")).toBeUndefined();
  });
});
