import { expect, it } from "vitest";
import { redisEngine } from "../../../src/engines/redis/engine.js";
import { Queue } from "../../../src/index.js";
import { closedAtEnd } from "../../support/closed-at-end.js";
import { withRedis } from "../../support/with-redis.js";

const redis = withRedis();

it.each(["node-redis", "ioredis"] as const)(
  "A consumer on %s that begins while its login is refused says so, works within 5 s when it is accepted, and says that, too",
  async (library) => {
    const setPassword = (password: string) =>
      redis.raw.command("ACL", "SETUSER", "worker", "on", "resetpass", `>${password}`, "~*", "&*", "+@all");
    await setPassword("other");
    const engine = closedAtEnd(redisEngine({ url: redis.url, library, username: "worker", password: "right" }));
    const owner = new Queue<string>(library, { engine: closedAtEnd(redisEngine({ url: redis.url, library })) });
    const told: unknown[] = [];
    const delivered: string[] = [];
    const consumer = closedAtEnd(
      new Queue<string>(library, { engine })
        .consume(({ payload }) => void delivered.push(payload))
        .on("error", (error) => told.push(error instanceof Error && "code" in error ? error.code : error))
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
