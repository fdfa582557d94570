import { afterAll, beforeAll, expect, it } from "vitest";
import { redisEngine } from "../../src/engines/redis/engine.js";
import { Queue } from "../../src/queue.js";
import { closedAtEnd } from "../support/closed-at-end.js";
import { rawRedis } from "../support/raw-redis.js";
import { SentinelServers } from "../support/topologies/sentinel-servers.js";

let servers: SentinelServers;
beforeAll(async () => {
  servers = await SentinelServers.start({
    args: ["--user", "ada", "on", ">pw", "~*", "&*", "+@all"],
    sentinelConfig: "user bob on >spw &* +@all",
  });
});
afterAll(() => servers[Symbol.asyncDispose]());

const withLogins = (ada: string, bob: string) =>
  `${servers.url.replace("//", `//ada:${ada}@`)}/2?sentinelUsername=bob&sentinelPassword=${bob}`;
const queueOn = (options: Parameters<typeof redisEngine>[0]) =>
  new Queue<string>("orders", { engine: closedAtEnd(redisEngine(options)) });

it.each(["node-redis", "ioredis"] as const)(
  "with sentinels, %s logs in with both and uses the database of the URL",
  async (library) => {
    const queue = queueOn({ url: withLogins("pw", "spw"), library });
    await queue.schedule("x", { delay: "1h" });
    await using redis = await rawRedis((await servers.primary()).url);
    const clients = String(await redis.text("CLIENT", "LIST"));
    expect(clients).toMatch(/ db=2 .* user=ada /);
    const [sentinel] = servers.sentinels;
    await using asked = await rawRedis(sentinel?.url ?? "");
    // The one that listens for another primary.
    await expect.poll(() => asked.text("CLIENT", "LIST")).toMatch(/ sub=1 .* user=bob /);
  },
);

it.each([
  ["sentinels", "pw", "wrong"],
  ["the primary", "wrong", "spw"],
])("a password that %s do not accept is told at once, without the password", async (_, ada, bob) => {
  const refusal = await queueOn({ url: withLogins(ada, bob) })
    .schedule("x", { delay: 0 })
    .catch((error: unknown) => error);
  expect(refusal).toMatchObject({ code: "misconfigured", message: expect.stringContaining("WRONGPASS") });
  expect(String(refusal)).not.toMatch(/:(wrong|pw)@|spw/);
});

it("sentinels that do not know the primary by that name are told of as long as the call waits", async () => {
  const queue = queueOn({ url: servers.url.replace(/main$/, "maine") });
  await expect(queue.schedule("x", { delay: 0, timeout: 2_000 })).rejects.toMatchObject({
    code: "not-sent",
    message: expect.stringContaining('no primary is known by the name "maine"'),
  });
});

it("a server that is announced at another address is reached where nodeAddress says", async () => {
  const asked: string[] = [];
  const queue = queueOn({
    url: servers.url,
    nodeAddress: (host, port) => {
      asked.push(`${host}:${port}`);
      return { host: "localhost", port };
    },
  });
  await queue.schedule("x", { delay: "1h" });
  expect(asked).toContain(`127.0.0.1:${(await servers.primary()).port}`);
});
