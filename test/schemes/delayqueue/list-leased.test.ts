import { expect, it } from "vitest";
import type { ListPage } from "../../../src/engine.js";
import { delayqueueEngine } from "../../../src/engines/delayqueue/engine.js";
import { ids, newMessage } from "../../../src/testing/conformance/stage.js";
import { closedAtEnd } from "../../support/closed-at-end.js";
import { withRedis } from "../../support/with-redis.js";

const redis = withRedis();

it("The pages of leased messages end while their leases are extended, and what is not extended is listed once.", async () => {
  const queue = closedAtEnd(delayqueueEngine({ url: redis.url })).open("orders");
  await queue.schedule(ids(20).map((id) => newMessage(id)));
  const take = async (token: string, lease: number) => {
    const claim = await queue.claim({ limit: 10, lease, consumer: "c", token, attempts: 3 });
    return claim.messages.map(({ id }) => ({ id, token, leaseUntil: claim.leaseUntil }));
  };
  const extended = await take("extended", 60_000);
  const kept = await take("kept", 90_000);
  const seen: string[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages === 0 || cursor !== undefined; pages++) {
    expect(pages).toBeLessThan(25);
    const page: ListPage = await queue.list({ state: "leased", limit: 1, cursor });
    seen.push(...page.messages.map(({ id }) => id));
    cursor = page.cursor;
    // Each time to behind all that was leased when the first page was read.
    expect(await queue.extend(extended, 120_000 + pages * 1_000)).toHaveLength(10);
  }
  expect(seen.filter((id) => kept.some((one) => one.id === id)).toSorted()).toEqual(
    kept.map(({ id }) => id).toSorted(),
  );
  expect(seen).toHaveLength(new Set(seen).size);
});
