import type { Dropped } from "../../../src/engine.js";
import { afterAll, beforeAll, expect, it } from "vitest";
import { zsetListEngine } from "../../../src/engines/zset-list/engine.js";
import { sources } from "../../../src/engines/zset-list/scripts/sources.generated.js";
import { Queue } from "../../../src/index.js";
import { defineScript } from "../../../src/scripting/script.js";
import { newMessage } from "../../../src/testing/conformance/stage.js";
import { closedAtEnd } from "../../support/closed-at-end.js";
import { FaultProxy, runs } from "../../support/fault-proxy.js";
import { withRedis } from "../../support/with-redis.js";

// Plain: what a claim took is nowhere but in its reply.

const redis = withRedis();
const isTake = runs(defineScript("take", sources["take"]));
let proxy: FaultProxy;
let names = 0;

beforeAll(async () => {
  proxy = await FaultProxy.start(redis.server.port);
});
afterAll(() => proxy[Symbol.asyncDispose]());

/** Cuts the connection when a claim has run, and before its answer. */
const cut = () => proxy.plan("cut-before-reply", isTake);

async function scene() {
  const engine = closedAtEnd(zsetListEngine({ url: proxy.url }));
  const name = `lost-takes-${++names}`;
  const told: Dropped[] = [];
  const queue = engine.open(name, { onDropped: (dropped) => void told.push(dropped) });
  const claim = async (token: string, limit: number) => {
    const { messages } = await queue.claim({ limit, lease: 9_000, consumer: "c", token, attempts: 5 });
    return messages.map(({ id }) => id);
  };
  // So that the server knows the script, and the next request with it is the one that runs.
  await claim("first", 1);
  return { engine, name, queue, claim, told };
}

it("A claim that loses messages with its reply names them, and claims what is left when it is repeated", async () => {
  const { claim, queue, told } = await scene();
  await queue.schedule(["a", "b", "c"].map((id) => newMessage(id)));
  cut();
  const failure: unknown = await claim("second", 2).catch((error: unknown) => error);
  const lost = told.flatMap(({ ids }) => ids);
  expect(failure).toMatchObject({ code: "outcome-unknown", details: { lost } });
  expect(told).toEqual([{ ids: lost, total: 2 }]);
  const left = await claim("second", 2);
  expect([...lost, ...left].toSorted()).toEqual(["a", "b", "c"]);
  expect(await queue.counts()).toMatchObject({ due: 0, leased: 1 });
});

it("A consumer tells what was lost with a reply as dropped, and goes on", async () => {
  const { engine, name } = await scene();
  const queue = new Queue<string>(name, { engine });
  await queue.schedule("lost", { delay: 0, id: "lost" });
  const told: Dropped[] = [];
  const handled: string[] = [];
  cut();
  const consumer = queue.consume(async ({ payload }) => void handled.push(payload));
  consumer.on("dropped", (dropped) => told.push(dropped));
  await expect.poll(() => told, { timeout: 8_000 }).toEqual([{ ids: ["lost"], total: 1 }]);
  await queue.schedule("next", { delay: 0 });
  await expect.poll(() => handled, { timeout: 8_000 }).toEqual(["next"]);
  await consumer.close();
});
