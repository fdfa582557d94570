import { expect, it } from "vitest";
import { zsetStreamEngine } from "../../../src/engines/zset-stream/engine.js";
import { newMessage } from "../../../src/testing/conformance/stage.js";
import { closedAtEnd } from "../../support/closed-at-end.js";
import { scriptCalls } from "../../support/script-calls.js";
import { withRedis } from "../../support/with-redis.js";

const redis = withRedis();

it("A claim whose reply was lost finds what it took among 3,000 leases that end in the same ms, in its order", async () => {
  const queue = closedAtEnd(zsetStreamEngine({ url: redis.url })).open("many");
  const ids = Array.from({ length: 3_000 }, (_, n) => `m${(n * 1_789) % 3_000}`);
  await queue.schedule(ids.map((id, n) => ({ ...newMessage(id), due: { at: 1 + (n % 2) } })));
  const claim = (token: string) => queue.claim({ limit: 150, lease: 600_000, consumer: "c", token, attempts: 5 });
  let last = await claim("t1");
  for (let n = 2; n <= 20; n++) last = await claim(`t${n}`);
  const [leases] = (await redis.raw.text("KEYS", "*many*:leases")) as [string];
  const members = (await redis.raw.command("ZRANGE", leases, 0, -1)) as Buffer[];
  await redis.raw.command("ZADD", leases, ...members.flatMap((member) => [last.leaseUntil, member]));
  expect(members).toHaveLength(3_000);
  expect(last.messages).toHaveLength(150);

  await redis.raw.command("CONFIG", "RESETSTAT");
  expect((await claim("t20")).messages).toEqual(last.messages);
  expect(await scriptCalls(redis.raw)).toBe(3);
  expect((await queue.audit()).ok).toBe(true);
});
