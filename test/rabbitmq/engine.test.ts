import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Channel, type ChannelModel, connect, type GetMessage } from "amqplib";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { NewMessage, Watcher } from "../../src/engine.js";
import { rabbitmqEngine } from "../../src/engines/rabbitmq/engine.js";
import { Ladder } from "../../src/engines/rabbitmq/ladder.js";
import { Names } from "../../src/engines/rabbitmq/names.js";
import { Places } from "../../src/engines/rabbitmq/places.js";
import { Queue } from "../../src/index.js";
import type { PunctualError } from "../../src/errors.js";
import { announcedOutput, codeBlocks, isProgram } from "../documentation/code-blocks.js";
import { read, root } from "../source-files.js";
import { bundle } from "../support/bundle.js";
import { relayTo } from "../support/rabbitmq-relay.js";
import { withRabbitmq } from "../support/rabbitmq-of-file.js";

const rabbitmq = withRabbitmq();
const names = new Names("punctual");
let model: ChannelModel;
let channel: Channel;
beforeAll(async () => {
  model = await connect(rabbitmq.server.url);
  channel = await model.createChannel();
});
afterAll(() => model?.close());

const message = (id: string, delay = 0, rest: Partial<NewMessage> = {}): NewMessage => ({
  id,
  payload: Buffer.from(id),
  due: { delay },
  onDuplicate: "keep",
  ...rest,
});
const claim = (token: string) => ({ limit: 10, lease: 60_000, consumer: "one", token, attempts: 5 });
const deaf: Watcher = { wake() {}, postpone() {}, interrupted() {}, recovered() {} };

/** The next message in a queue of the broker. */
async function next(queue: string): Promise<GetMessage> {
  let got: GetMessage | false = false;
  const take = async () => (got = await channel.get(queue, { noAck: true })) !== false;
  await expect.poll(take, { timeout: 10_000, interval: 10 }).toBe(true);
  if (!got) throw new Error(`nothing came into ${queue}`);
  return got;
}

describe("The ladder", () => {
  it("hands a message down from level to level, once for each bit of its delay, and lets it out before it is due", async () => {
    await using engine = rabbitmqEngine({ url: rabbitmq.url });
    const queue = engine.open("down");
    // Making the ladder takes longer than this message waits.
    await queue.counts();
    await queue.schedule([message("a", 700)]);
    const { properties } = await next(names.work("down"));
    const deaths: readonly { queue: string; count: number; reason: string }[] = properties.headers?.["x-death"] ?? [];
    expect(new Set(deaths.map(({ queue: level }) => level)).size).toBe(deaths.length);
    expect(new Set(deaths.map(({ reason, count }) => `${reason} ${count}`))).toEqual(new Set(["expired 1"]));
    // At which level it waited how long follows from the names of the levels.
    const held = deaths.reduce(
      (sum, { queue: level }) => sum + 8 * 2 ** Number(level.replace("punctual/delay/", "")),
      0,
    );
    expect(held).toBeLessThanOrEqual(700);
    // A busy machine sends it later, and it is to wait less.
    expect(held).toBeGreaterThan(350);
  });

  it("is made of quorum queues that keep a message until the next one has it, or of classic ones where that is asked for", async () => {
    await using engine = rabbitmqEngine({ url: rabbitmq.url, prefix: "classic", queues: "classic" });
    await engine.open("types").counts();
    await using usual = rabbitmqEngine({ url: rabbitmq.url });
    await usual.open("types").counts();
    // Declaring what is there with other arguments is refused, so these are its arguments.
    const made = async (prefix: string, type: Record<string, unknown>) => {
      const level = await channel.assertQueue(`${prefix}/delay/00`, {
        durable: true,
        arguments: { "x-message-ttl": 8, "x-dead-letter-exchange": `${prefix}/due`, ...type },
      });
      return level.queue;
    };
    expect(await made("classic", {})).toBe("classic/delay/00");
    const quorum = {
      "x-queue-type": "quorum",
      "x-dead-letter-strategy": "at-least-once",
      "x-overflow": "reject-publish",
    };
    expect(await made("punctual", quorum)).toBe("punctual/delay/00");
  });

  it("is whole again after somebody has deleted a level, and the message is not lost over it", async () => {
    await using engine = rabbitmqEngine({ url: rabbitmq.url });
    const queue = engine.open("mended");
    await queue.counts();
    await channel.deleteQueue(names.level(5));
    // The first enters at the level that is gone, the other one far above it.
    const results = await queue.schedule([message("a", 8 * 2 ** 5 + 100)]);
    const again = await queue.schedule([message("b", 1_000)]);
    expect([...results, ...again].map(({ outcome }) => outcome)).toEqual(["scheduled", "scheduled"]);
    const ids = [await next(names.work("mended")), await next(names.work("mended"))].map(({ content }) =>
      content.toString(),
    );
    expect(ids.toSorted()).toEqual(["a", "b"]);
  });

  it("refuses a delay that is longer than it is high, with the longest one in the sentence, and schedules the others", async () => {
    await using engine = rabbitmqEngine({ url: rabbitmq.url });
    const { longestDelay } = new Ladder(8);
    const scheduling = engine
      .open("high")
      .schedule([message("a", longestDelay + 1_000), message("b", longestDelay - 1_000)]);
    await expect(scheduling).rejects.toMatchObject({
      code: "unsupported",
      message: expect.stringContaining(`${longestDelay} ms is the most, the height of the ladder`),
      details: { longestDelay, results: [undefined, { outcome: "scheduled" }] },
    });
  });
});

describe("The plugin", () => {
  it("that the broker does not have is refused with what to do, by every call", async () => {
    await using engine = rabbitmqEngine({ url: rabbitmq.url, mode: "plugin" });
    const queue = engine.open("orders");
    const sentence = {
      code: "misconfigured",
      message: expect.stringContaining("enable its plugin rabbitmq_delayed_message_exchange"),
    };
    await expect(queue.schedule([message("a", 1_000)])).rejects.toMatchObject(sentence);
    await expect(queue.claim(claim("t"))).rejects.toMatchObject(sentence);
    await expect(queue.watch("one", deaf)).rejects.toMatchObject(sentence);
  });

  it("is handed a message with the delay in its header, and what is due now goes past it", () => {
    const places = new Places(names, new Ladder(8), "plugin", "orders");
    expect(places.waiting(1_499.2)).toEqual({
      exchange: "punctual/delayed",
      routingKey: "punctual/queue/orders",
      headers: { "x-delay": 1_500 },
      mandatory: false,
    });
    expect(places.waiting(0)).toEqual({ exchange: "", routingKey: "punctual/queue/orders", mandatory: true });
    expect(places.longestDelay).toBe(2 ** 32 - 1);
    expect(places.tooLate(2 ** 32).message).toContain("4294967295 ms is the most, the limit of the plugin");
  });
});

describe("Consumers", () => {
  it("that are killed leave their messages to others at once; what the broker takes back uses no attempt", async () => {
    await using program = await bundle(join(root, "test", "rabbitmq", "programs", "holder.ts"));
    await using engine = rabbitmqEngine({ url: rabbitmq.url });
    const queue = new Queue<string>("killed", { engine });
    const ids = ["a", "b", "c"];
    await queue.scheduleMany(ids.map((id) => ({ payload: id, id, delay: 50 })));
    const child = spawn(process.execPath, [program.path, rabbitmq.server.url, "killed"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    try {
      const held = new Set<string>();
      for await (const text of child.stdout) {
        for (const id of String(text).trim().split("\n")) held.add(id);
        if (held.size === ids.length) break;
      }
    } finally {
      child.kill("SIGKILL");
      await once(child, "exit");
    }
    const got: string[] = [];
    const begin = performance.now();
    await new Promise<void>((resolve) => {
      const consumer = queue.consume(({ id, attempt }) => {
        got.push(`${id} ${attempt}`);
        if (got.length === ids.length) setImmediate(() => void consumer.close().then(resolve));
      });
    });
    expect(performance.now() - begin).toBeLessThan(5_000);
    expect(got.toSorted()).toEqual(["a 1", "b 1", "c 1"]);
  });

  it("get no more than they work on: what they have no room for goes to others", async () => {
    await using engine = rabbitmqEngine({ url: rabbitmq.url });
    await using other = rabbitmqEngine({ url: rabbitmq.url });
    const starts: string[] = [];
    const consumers = [engine, other].map((own, index) =>
      new Queue<string>("room", { engine: own }).consume(
        ({ signal }) => {
          starts.push(`consumer ${index}`);
          return new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
        },
        { concurrency: 2 },
      ),
    );
    await new Queue<string>("room", { engine }).scheduleMany(
      ["a", "b", "c", "d"].map((id) => ({ payload: id, delay: 100 })),
    );
    await expect
      .poll(() => starts.toSorted(), { timeout: 5_000 })
      .toEqual(["consumer 0", "consumer 0", "consumer 1", "consumer 1"]);
    await Promise.all(consumers.map((consumer) => consumer.close({ timeout: 0 })));
  });

  it("do not hold a message that comes far too early: it waits in the broker again", async () => {
    await using engine = rabbitmqEngine({ url: rabbitmq.url });
    const queue = engine.open("early");
    await queue.counts();
    // As from a producer whose clock is a second ahead.
    const dueAt = Date.now() + 1_000;
    const headers = { "punctual-id": "a", "punctual-due": dueAt, "punctual-failures": 0 };
    channel.sendToQueue(names.work("early"), Buffer.from("x"), { headers });
    const started: number[] = [];
    const consumer = new Queue<string>("early", {
      engine,
      codec: { encode: () => Buffer.of(), decode: () => "x" },
    }).consume(() => started.push(Date.now()));
    await expect
      .poll(async () => (await queue.counts()).scheduled, { timeout: 3_000, interval: 20 })
      .toBeGreaterThan(0);
    await expect.poll(() => started.length, { timeout: 5_000 }).toBe(1);
    expect(started[0]).toBeGreaterThanOrEqual(dueAt);
    await consumer.close();
  });
});

describe("The page on this engine", () => {
  const page = "docs/reference/engines/rabbitmq.md";

  it("has a program that runs as printed and prints what it says.", async () => {
    const [block] = codeBlocks(page).filter(isProgram);
    if (block === undefined) throw new Error("The page shows no program.");
    const folder = join(root, ".build", "rabbitmq-page");
    await mkdir(folder, { recursive: true });
    const file = join(folder, "program.ts");
    await writeFile(file, block.code.replaceAll("amqp://127.0.0.1:5672", rabbitmq.url));
    const said: unknown[] = [];
    const log = vi.spyOn(console, "log").mockImplementation((text: unknown) => said.push(text));
    await import(file);
    log.mockRestore();
    expect(said).toEqual(announcedOutput(block));
  });

  it("says how high the ladder is, and its names.", () => {
    const text = read(page);
    const { levels, longestDelay, grain } = new Ladder(8);
    expect(text).toContain(`for ${grain} ms`);
    expect(text).toContain(`${levels} levels, together ${longestDelay.toLocaleString("en")} ms`);
    for (const name of [names.level(0), names.due, names.delayed, names.work("<name>"), names.dead("<name>")]) {
      expect(text).toContain(`\`${name}\``);
    }
  });
});

describe("Dead letters", () => {
  it("lie in a queue of their own with reason, error and time, are counted, and those that are asked for come back", async () => {
    await using engine = rabbitmqEngine({ url: rabbitmq.url });
    const queue = engine.open("dead");
    await queue.schedule(["a", "b", "c"].map((id) => message(id)));
    const { messages, leaseUntil } = await queue.claim(claim("t"));
    expect(messages.map(({ id }) => id)).toEqual(["a", "b", "c"]);
    const error = { name: "Error", message: "no use" };
    await queue.bury(messages.map(({ id }) => ({ id, token: "t", leaseUntil, reason: "poison", error })));
    expect(await queue.counts()).toMatchObject({ due: 0, leased: 0, dead: 3 });
    expect(await queue.revive(["b", "absent"], { delay: 0 })).toBe(1);
    expect(await queue.remove(["c"])).toBe(1);
    expect(await queue.counts()).toMatchObject({ due: 1, dead: 1 });
    const again = await queue.claim(claim("u"));
    expect(again.messages.map(({ id, attempt, payload }) => [id, attempt, Buffer.from(payload).toString()])).toEqual([
      ["b", 1, "b"],
    ]);
    const { properties } = await next(names.dead("dead"));
    expect(properties.headers).toMatchObject({ "punctual-id": "a", "punctual-failures": 1 });
    expect(JSON.parse(String(properties.headers?.["punctual-buried"]))).toMatchObject({
      reason: "poison",
      at: expect.any(Number),
    });
    expect(JSON.parse(String(properties.headers?.["punctual-error"]))).toMatchObject({ message: "no use" });
  });

  it("may be handed out as often as one likes, also by a RabbitMQ 4, which drops what it has handed out 20 times", async () => {
    await using engine = rabbitmqEngine({ url: rabbitmq.url });
    await engine.open("kept").counts();
    // Declaring what is there with other arguments is refused, so these are its arguments.
    const quorum = { "x-queue-type": "quorum", "x-delivery-limit": 1_000_000_000 };
    await expect(channel.assertQueue(names.dead("kept"), { durable: true, arguments: quorum })).resolves.toBeTruthy();
  });

  it("of which a revival had reached some when it was cut off are told, and the others lie where they were", async () => {
    await using engine = rabbitmqEngine({ url: rabbitmq.url, prefix: "cut" });
    const queue = engine.open("cut");
    const ids = Array.from({ length: 1_500 }, (_, n) => `m${n}`);
    await queue.schedule(ids.map((id) => message(id)));
    const { messages, leaseUntil } = await queue.claim({ ...claim("t"), limit: 1_000 });
    await queue.bury(messages.map(({ id }) => ({ id, token: "t", leaseUntil, reason: "poison", error: undefined })));
    const dead = messages.length;

    // Nothing is confirmed to it from one of the third batch on.
    const relay = await relayTo(rabbitmq.server.port, "m600");
    const other = rabbitmqEngine({ url: relay.url, prefix: "cut" });
    const cut: unknown = other
      .open("cut")
      .revive("all", { delay: 60_000 })
      .catch((error: unknown) => error);
    await relay.hangs;
    await other.close();
    await relay.close();
    const waiting = async () => (await queue.counts()).scheduled;
    const { code, details } = (await cut) as PunctualError;
    expect(code).toBe("closed");
    const done = Number(details["done"]);
    expect(done).toBeGreaterThan(0);
    // The broker takes back what was in the hands of the other; of these some are stored anew as well.
    const left = async () => (await queue.counts()).dead;
    await expect.poll(left, { timeout: 10_000 }).toBeGreaterThanOrEqual(dead - done - 250);
    await queue.revive("all", { delay: 60_000 });
    expect(await left()).toBe(0);
    await expect.poll(waiting, { timeout: 10_000 }).toBeGreaterThanOrEqual(dead);
    expect(await waiting()).toBeLessThanOrEqual(dead + 250);
  });
});

describe("A connection that is lost while it is made", () => {
  it("is made again, and what waited for it is done", async () => {
    // With this word the library ends a channel, as it does after the last thing that it asks before a connection is used.
    const relay = await relayTo(rabbitmq.server.port, "Goodbye");
    const engine = rabbitmqEngine({ url: relay.url });
    const scheduling = engine.open("made-again").schedule([message("a")]);
    await relay.hangs;
    relay.cut();
    expect(await scheduling).toMatchObject([{ outcome: "scheduled" }]);
    await engine.close();
    await relay.close();
  });
});

describe("A broker that hangs", () => {
  it("does not hold the engine when it is closed", async () => {
    const relay = await relayTo(rabbitmq.server.port, "punctual/delay");
    const engine = rabbitmqEngine({ url: relay.url });
    const scheduling = engine
      .open("hanging")
      .schedule([message("a")])
      .catch((error: unknown) => error);
    await relay.hangs;
    const began = performance.now();
    await engine.close();
    expect(performance.now() - began).toBeLessThan(2_000);
    expect(await scheduling).toMatchObject({ code: "closed" });
    await relay.close();
  });
});
