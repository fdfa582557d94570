import { expect, it } from "vitest";
import { nodeRedis } from "../../src/clients/node-redis.js";
import { parseDeadLetterBounds } from "../../src/dead-letter-bounds.js";
import type { Engine } from "../../src/engine.js";
import { redisEngine } from "../../src/engines/redis/engine.js";
import { queueKeys } from "../../src/engines/redis/keys.js";
import { RedisQueue } from "../../src/engines/redis/redis-queue.js";
import { defineScript, type Evaluator, type Script } from "../../src/scripting/script.js";
import { Supervisor } from "../../src/connection/supervisor.js";
import { Queue } from "../../src/queue.js";
import { withRedis } from "../support/with-redis.js";

/** A deploy: for a while an older and a newer version of the library serve one queue. */

const redis = withRedis();
const keys = queueKeys("punctual", "orders");
const knows = "tonumber(layout) > 1";

/** The script of a version that knows the next layout, too. Fails unless the layout is asked for in one place. */
function newer({ name, source }: Script): Script {
  const parts = source.split(knows);
  if (parts.length !== 2) throw new Error(`The script ${name} asks ${parts.length - 1} times for the layout.`);
  return defineScript(name, parts.join("tonumber(layout) > 2"));
}

class NewerSupervisor extends Supervisor {
  override evaluate(...[script, ...rest]: Parameters<Evaluator["evaluate"]>) {
    return super.evaluate(newer(script), ...rest);
  }
}

function newerEngine(url: string): Engine {
  const supervisor = new NewerSupervisor({ connector: nodeRedis({ url }) });
  const close = () => supervisor.close();
  return {
    name: "redis",
    open: () =>
      new RedisQueue({
        work: supervisor,
        calls: supervisor,
        keys,
        rememberFor: undefined,
        bounded: parseDeadLetterBounds(undefined),
      }),
    close,
    [Symbol.asyncDispose]: close,
  };
}

it("an older version works beside a newer one, until the layout is raised: then it refuses, and loses nothing", async () => {
  await using oldEngine = redisEngine({ url: redis.url });
  await using newEngine = newerEngine(redis.url);
  const old = new Queue<number>("orders", { engine: oldEngine });
  const young = new Queue<number>("orders", { engine: newEngine });
  const seen: number[] = [];
  const errors: unknown[] = [];
  const onOld = old.consume(({ payload }) => void seen.push(payload), { lease: "1s" });
  onOld.on("error", (error) => errors.push(error));
  const onYoung = young.consume(({ payload }) => void seen.push(payload), { lease: "1s" });

  const numbers = Array.from({ length: 200 }, (_, n) => n);
  await Promise.all(numbers.map((n) => (n % 2 === 0 ? old : young).schedule(n, { delay: n % 50 })));
  await expect.poll(() => seen.length, { timeout: 10_000 }).toBe(200);
  expect(seen.toSorted((a, b) => a - b)).toEqual(numbers);
  expect(String(await redis.raw.command("HGET", keys.state, "v"))).toBe("1");

  await young.schedule(200, { delay: 300 });
  await redis.raw.command("HSET", keys.state, "v", 2);
  await expect(old.schedule(201, { delay: 0 })).rejects.toMatchObject({
    code: "misconfigured",
    message: expect.stringMatching(/written by a newer version of punctual, which this one cannot read/),
  });
  await young.schedule(202, { delay: 300 });
  await expect.poll(() => seen.slice(200).toSorted((a, b) => a - b), { timeout: 10_000 }).toEqual([200, 202]);
  await expect.poll(() => onOld.health().state, { timeout: 10_000 }).toBe("recovering");
  expect(errors).toEqual([expect.objectContaining({ code: "misconfigured" })]);
  expect(await young.audit()).toMatchObject({ ok: true, problems: [] });
  await Promise.all([onOld.close({ timeout: 0 }), onYoung.close()]);
});
