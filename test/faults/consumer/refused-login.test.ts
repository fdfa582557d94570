import { expect, it } from "vitest";
import { redisEngine } from "../../../src/engines/redis/engine.js";
import { Queue } from "../../../src/index.js";
import { closedAtEnd } from "../../support/closed-at-end.js";
import { FaultProxy } from "../../support/fault-proxy.js";
import { withRedis } from "../../support/with-redis.js";

const redis = withRedis();

const setPassword = (password: string) =>
  redis.raw.command("ACL", "SETUSER", "worker", "on", "resetpass", `>${password}`, "~*", "&*", "+@all");

const codeOf = (error: unknown) => (error instanceof Error && "code" in error ? error.code : error);

it.each(["node-redis", "ioredis"] as const)(
  "A consumer on %s that begins while its login is refused says so, works within 5 s when it is accepted, and says that, too",
  async (library) => {
    await setPassword("other");
    const engine = closedAtEnd(redisEngine({ url: redis.url, library, username: "worker", password: "right" }));
    const owner = new Queue<string>(library, { engine: closedAtEnd(redisEngine({ url: redis.url, library })) });
    const told: unknown[] = [];
    const delivered: string[] = [];
    const consumer = closedAtEnd(
      new Queue<string>(library, { engine })
        .consume(({ payload }) => void delivered.push(payload))
        .on("error", (error) => told.push(codeOf(error)))
        .on("recovered", () => told.push("recovered")),
    );
    await expect.poll(() => told).toEqual(["misconfigured"]);
    expect(consumer.health().state).toBe("recovering");
    await owner.schedule("first", { delay: 0 });
    await setPassword("right");
    const works = () => [delivered, told, consumer.health().state];
    await expect.poll(works, { timeout: 5_000 }).toEqual([["first"], ["misconfigured", "recovered"], "running"]);
  },
);

it.each(["node-redis", "ioredis"] as const)(
  "A consumer on %s whose Redis was out of reach, and then refuses its login, tells of both, and works when it is accepted",
  async (library) => {
    await using proxy = await FaultProxy.start(redis.server.port);
    await setPassword("right");
    const engine = closedAtEnd(redisEngine({ url: proxy.url, library, username: "worker", password: "right" }));
    const told: unknown[] = [];
    const consumer = closedAtEnd(
      new Queue<string>(`${library}-again`, { engine })
        .consume(() => {})
        .on("error", (error) => told.push(codeOf(error)))
        .on("recovered", () => told.push("recovered")),
    );
    await expect.poll(() => consumer.health().state).toBe("running");
    proxy.refuse();
    proxy.cut();
    await expect.poll(() => told.length, { timeout: 5_000 }).toBe(1);
    expect(told).not.toContain("misconfigured");
    await setPassword("other");
    proxy.heal();
    await expect.poll(() => told.slice(1), { timeout: 5_000 }).toEqual(["misconfigured"]);
    await setPassword("right");
    await expect.poll(() => told.slice(1), { timeout: 10_000 }).toEqual(["misconfigured", "recovered"]);
    expect(consumer.health().state).toBe("running");
  },
  30_000,
);
