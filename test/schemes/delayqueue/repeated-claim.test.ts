import { expect, it } from "vitest";
import { delayqueueEngine } from "../../../src/engines/delayqueue/engine.js";
import { newMessage } from "../../../src/testing/conformance/stage.js";
import { closedAtEnd } from "../../support/closed-at-end.js";
import { scriptCalls } from "../../support/script-calls.js";
import { withRedis } from "../../support/with-redis.js";

const redis = withRedis();

it("A claim whose reply was lost finds what it took among 3,000 leases that end in the same ms, in its order", async () => {
  const queue = closedAtEnd(delayqueueEngine({ url: redis.url })).open("many");
  const ids = Array.from({ length: 3_000 }, (_, n) => `m${(n * 1_789) % 3_000}`);
  await queue.schedule(ids.map((id, n) => ({ ...newMessage(id), due: { at: Date.now() - 10 + (n % 2) } })));
  const claim = (token: string) => queue.claim({ limit: 100, lease: 600_000, consumer: "c", token, attempts: 5 });
  let last = await claim("t1");
  for (let n = 2; n <= 30; n++) last = await claim(`t${n}`);
  const [leases] = (await redis.raw.text("KEYS", "*many*unack*")) as [string];
  const members = (await redis.raw.command("ZRANGE", leases, 0, -1)) as Buffer[];
  // Each of the 30 claims as if it had been made in the ms of the last one: its first lease has the first place of that.
  const places = members.flatMap((member, n) => [String(last.leaseUntil / 1_000 + (1 + (n % 100)) * 2 ** -22), member]);
  await redis.raw.command("ZADD", leases, ...places);
  expect(members).toHaveLength(3_000);
  expect(last.messages).toHaveLength(100);

  await redis.raw.command("CONFIG", "RESETSTAT");
  expect(await claim("t30")).toMatchObject({ messages: last.messages, leaseUntil: last.leaseUntil });
  expect(await scriptCalls(redis.raw)).toBe(3);
});
