import { once } from "node:events";
import { createConnection } from "node:net";
import { type EngineQueue, type Engine } from "../../src/engine.js";
import { redisEngine } from "../../src/engines/redis/engine.js";
import { queueKeys } from "../../src/engines/redis/keys.js";
import { type RedisServer, startRedisServer } from "../../src/testing/redis-server.js";
import { type RawRedis, rawRedis } from "../support/raw-redis.js";
import { workOf } from "../support/redis-work.js";
import { scriptCalls } from "../support/script-calls.js";

/** A queue with very many messages on a Redis of its own, whose work is measured. */
export class ScaleQueue implements AsyncDisposable {
  readonly queue: EngineQueue;
  readonly #server: RedisServer;
  readonly #raw: RawRedis;
  readonly #engine: Engine;

  private constructor(server: RedisServer, raw: RawRedis, engine: Engine) {
    this.#server = server;
    this.#raw = raw;
    this.#engine = engine;
    this.queue = engine.open("scale");
  }

  static async start(): Promise<ScaleQueue> {
    const server = await startRedisServer();
    const raw = await rawRedis(`unix://${server.socketPath}`);
    return new ScaleQueue(server, raw, redisEngine({ url: `unix://${server.socketPath}` }));
  }

  /** Hands over messages with these numbers, 10,000 in a call. */
  async schedule(
    first: number,
    end: number,
    { dueAt, bytes }: { dueAt: (number: number) => number; bytes: number },
  ): Promise<void> {
    const payload = Buffer.alloc(bytes, "x");
    for (let from = first; from < end; from += 10_000) {
      const numbers = Array.from({ length: Math.min(10_000, end - from) }, (_, index) => from + index);
      await this.queue.schedule(
        numbers.map((n) => ({ id: `m${n}`, payload, due: { at: dueAt(n) }, onDuplicate: "keep" as const })),
      );
    }
  }

  /**
   * How long the processor of Redis worked for each script of a call, ms: what 95 in 100 of the calls did not exceed. It is
   * not the time that passed, as SLOWLOG tells it: that goes on while other tests have the processor, and says on a busy
   * machine how busy it is.
   */
  async work(calls: readonly (() => Promise<unknown>)[]): Promise<number> {
    const costs: number[] = [];
    for (const call of calls) {
      const before = await this.#used();
      await call();
      const after = await this.#used();
      costs.push((after.ms - before.ms) / Math.max(1, after.scripts - before.scripts));
    }
    return costs.toSorted((one, other) => one - other)[Math.ceil(costs.length * 0.95) - 1] ?? Infinity;
  }

  /** Claims so many messages, and says that all these leases ended in one ms, a minute ago; gives when. */
  async endLeases(count: number, attempts: number): Promise<number> {
    for (let held = 0; held < count;) {
      const request = { limit: 1_000, lease: 60_000, consumer: "c", token: `t${held}`, attempts };
      const { messages } = await this.queue.claim(request);
      if (messages.length === 0) throw new Error(`${count} leases are to end, but only ${held} messages are due`);
      held += messages.length;
    }
    const [seconds] = (await this.#raw.text("TIME")) as [string];
    const end = (Number(seconds) - 60) * 1_000;
    await this.gatherLeases(end);
    return end;
  }

  /** Says of all leases that they end in this ms. */
  async gatherLeases(end: number): Promise<void> {
    const { leases } = queueKeys("punctual", "scale");
    const ids = (await this.#raw.text("ZRANGE", leases, 0, -1)) as string[];
    await this.#raw.command("ZADD", leases, "XX", ...ids.flatMap((id) => [end, id]));
  }

  /** How many messages each script of a call named in the commands that it ran. */
  async named(call: () => Promise<unknown>): Promise<number[]> {
    const monitor = createConnection(this.#server.socketPath);
    let text = "";
    monitor.setEncoding("latin1").on("data", (some: string) => (text += some));
    monitor.write("MONITOR\r\n");
    await once(monitor, "data");
    await call();
    await this.#raw.command("ECHO", "the end");
    while (!text.includes('"the end"')) await once(monitor, "data");
    monitor.destroy();
    // Every script asks for the time first.
    const [, ...scripts] = text.split(/ lua\] "TIME"/);
    return scripts.map((script) => new Set(script.match(/"m\d+"/g)).size);
  }

  async #used(): Promise<{ readonly ms: number; readonly scripts: number }> {
    return { ms: await workOf(this.#raw), scripts: await scriptCalls(this.#raw) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#engine.close();
    this.#raw.close();
    await this.#server.stop();
  }
}
