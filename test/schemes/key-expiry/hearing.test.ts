import { afterEach, describe, expect, it, vi } from "vitest";
import type { NewMessage } from "../../../src/engine.js";
import { keyExpiryEngine } from "../../../src/engines/key-expiry/engine.js";
import { closedAtEnd } from "../../support/closed-at-end.js";
import { withRedis } from "../../support/with-redis.js";
import { listeningConsumer } from "./listening-consumer.js";

const redis = withRedis();
const hour = 3_600_000;
const silent = { wake() {}, postpone() {}, interrupted() {}, recovered() {} };
const base = "{punctual:q}:key-expiry";
const setting = "notify-keyspace-events";

const open = () => closedAtEnd(keyExpiryEngine({ url: redis.url })).open("q");
const flags = async () => ((await redis.raw.text("CONFIG", "GET", setting)) as string[])[1] ?? "";
const setFlags = (value: string) => redis.raw.command("CONFIG", "SET", setting, value);
const sorted = (text: string) => Array.from(text).toSorted().join("");

function message(id: string, delay = 0): NewMessage {
  return { id, payload: Buffer.from(id), due: { delay }, onDuplicate: "keep" };
}

afterEach(async () => {
  vi.restoreAllMocks();
  await redis.raw.command("ACL", "SETUSER", "default", "+@all");
  await redis.raw.command("FLUSHALL");
  await setFlags("");
});

describe("What Redis tells", () => {
  it.each([
    ["", "Ex"],
    ["Kl", "KlEx"],
    ["Kx", "KxE"],
    ["AK", "AKE"],
    ["Eg", "Egx"],
  ])("is what is needed, with what was set before: %j", async (before, after) => {
    await setFlags(before);
    const watch = await open().watch("c", silent);
    expect(sorted(await flags())).toBe(sorted(after));
    await watch[Symbol.asyncDispose]();
  });

  it("is taken as it is where the setting may not be read, and what to set is said when nothing comes", async () => {
    await redis.raw.command("ACL", "SETUSER", "default", "-config");
    await expect(open().watch("c", silent)).rejects.toMatchObject({
      code: "misconfigured",
      message: expect.stringMatching(/notify-keyspace-events.*"Ex"/),
      details: { setting, needed: "Ex" },
    });
    await redis.raw.command("ACL", "SETUSER", "default", "+config");
    await setFlags("Ex");
    await redis.raw.command("ACL", "SETUSER", "default", "-config");
    const queue = open();
    const one = await listeningConsumer(queue);
    await queue.schedule([message("a", 20)]);
    await expect.poll(one.ids).toEqual(["a"]);
    await one.stop();
  });

  it("is turned on again when somebody has turned it off, and what was missed is found", async () => {
    const queue = open();
    const one = await listeningConsumer(queue);
    await setFlags("");
    await queue.schedule([message("unheard", 20)]);
    await expect.poll(async () => redis.raw.command("EXISTS", `${base}:due:unheard`)).toBe(0);
    expect(one.ids()).toEqual([]);
    const right = queue.clock.elapsed.bind(queue.clock);
    for (let round = 1; round <= 4; round++) {
      vi.spyOn(queue.clock, "elapsed").mockImplementation(() => right() + round * 5_000);
      const before = one.claims();
      one.look();
      await expect.poll(one.claims).toBeGreaterThan(before);
    }
    await expect.poll(flags).toMatch(/E.*x|x.*E/);
    await expect.poll(one.ids).toEqual(["unheard"]);
    await one.stop();
  });
});

describe("Consumers that hear", () => {
  it("deliver each of 1,500 messages once and none early, in five processes that all hear of each", async () => {
    const consumers = await Promise.all(Array.from({ length: 5 }, () => listeningConsumer(open(), 20)));
    const ids = Array.from({ length: 1_500 }, (_, index) => `m-${index}`);
    await open().schedule(ids.map((id, index) => message(id, index % 500)));
    const taken = () => consumers.flatMap((one) => one.taken);
    await expect.poll(() => taken().length, { timeout: 15_000 }).toBe(1_500);
    await Promise.all(consumers.map((one) => one.stop()));
    expect(
      taken()
        .map(({ id }) => id)
        .toSorted(),
    ).toEqual(ids.toSorted());
    expect(taken().filter(({ early }) => early > 0)).toEqual([]);
    expect(consumers.filter((one) => one.taken.length > 0).length).toBeGreaterThan(1);
  });

  it("are told of what is due at once, whoever schedules, reschedules or puts it back, and of the end of a pause", async () => {
    const queue = open();
    const one = await listeningConsumer(queue);
    await open().schedule([message("now"), message("moved", hour)]);
    await open().reschedule([{ id: "moved", due: { delay: 0 } }]);
    await expect.poll(one.ids).toEqual(["moved", "now"]);
    await open().pause();
    await open().schedule([message("paused")]);
    await queue.counts();
    expect(one.ids()).toEqual(["moved", "now"]);
    await open().resume();
    await expect.poll(one.ids).toEqual(["moved", "now", "paused"]);
    await one.stop();
  });

  it("find what came due when nobody heard, and what has lost its timer", async () => {
    const queue = open();
    await queue.schedule([...Array.from({ length: 700 }, (_, index) => message(`m-${index}`)), message("far", 1_000)]);
    await redis.raw.command("DEL", `${base}:due:far`);
    const one = await listeningConsumer(queue);
    await expect.poll(() => one.taken.length).toBe(700);
    // The sweep has set it again, so it is heard as any other.
    await expect.poll(one.ids, { timeout: 5_000 }).toContain("far");
    expect(new Set(one.ids()).size).toBe(701);
    await one.stop();
  });

  it("make one call when they poll, and ask for the setting only when nothing is heard", async () => {
    const queue = open();
    const one = await listeningConsumer(queue);
    await expect.poll(one.claims).toBeGreaterThan(0);
    await redis.raw.command("CONFIG", "RESETSTAT");
    const before = one.claims();
    one.look();
    await expect.poll(one.claims).toBe(before + 1);
    const sent = async () => {
      const stats = String(await redis.raw.text("INFO", "commandstats"));
      return [...stats.matchAll(/^cmdstat_(evalsha|config\|get|sscan|subscribe):calls=\d+/gm)].map(([line]) => line);
    };
    await expect.poll(sent).toEqual(["cmdstat_evalsha:calls=1"]);
    await one.stop();
  });
});
