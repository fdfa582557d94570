import { expect, it } from "vitest";
import type { EngineQueue } from "../../../src/engine.js";
import { zsetStreamEngine } from "../../../src/engines/zset-stream/engine.js";
import { newMessage } from "../../../src/testing/conformance/stage.js";
import { closedAtEnd } from "../../support/closed-at-end.js";
import { FaultProxy, isCommand } from "../../support/fault-proxy.js";
import { scriptCalls } from "../../support/script-calls.js";
import { withRedis } from "../../support/with-redis.js";

const redis = withRedis();
let claims = 0;

const claim = (queue: EngineQueue) =>
  queue.claim({ limit: 10, lease: 60_000, consumer: "c", token: `t-${++claims}`, attempts: 1 });

it("Claims with bounds look at dead letters only when one may be over them", async () => {
  const engine = closedAtEnd(zsetStreamEngine({ url: redis.url, deadLetters: { max: 5, maxAge: "1h" } }));
  const queue = engine.open("idle");
  await claim(queue);
  await redis.raw.command("CONFIG", "RESETSTAT");
  for (let times = 0; times < 5; times++) await claim(queue);
  expect(await scriptCalls(redis.raw)).toBe(5);
});

it("What a claim has leased is handed out before dead letters are given up", async () => {
  await using proxy = await FaultProxy.start(redis.server.port);
  const engine = closedAtEnd(zsetStreamEngine({ url: proxy.url, deadLetters: { max: 5 } }));
  const queue = engine.open("busy");
  await queue.schedule([newMessage("a")]);
  // The first script of this claim takes the message. The second one is held; after 2 s the connection would be given up for it.
  const held = proxy.plan("hold", isCommand("EVALSHA"), 2);
  const before = performance.now();
  expect((await claim(queue)).messages.map(({ id }) => id)).toEqual(["a"]);
  expect(performance.now() - before).toBeLessThan(1_500);
  await held.happened;
  held.release();
});
