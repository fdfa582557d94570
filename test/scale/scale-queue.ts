import { constants, setPriority } from "node:os";
import { type EngineQueue, type Engine } from "../../src/engine.js";
import { redisEngine } from "../../src/engines/redis/engine.js";
import { type RedisServer, startRedisServer } from "../../src/testing/redis-server.js";
import { type RawRedis, rawRedis } from "../support/raw-redis.js";

/** Takes under 1 ms of a server on a quiet machine, and all the more the busier the machine is. */
const yardstick = "local t = {} for i = 1, 1000 do t[i] = string.sub('abcdefghijk' .. i, 3) end return #t";

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
    try {
      // The server's clock runs on while others have its processor.
      setPriority(server.pid, constants.priority.PRIORITY_HIGHEST);
    } catch {
      // Only root may.
    }
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

  /** What 95 in 100 scripts of `work` did not exceed, ms, as on a machine on which the yardstick takes 1 ms at most. */
  async measure(work: (between: () => Promise<unknown>) => Promise<void>): Promise<number> {
    await this.#raw.command("CONFIG", "SET", "slowlog-log-slower-than", 0, "slowlog-max-len", 100_000);
    await this.#raw.command("SLOWLOG", "RESET");
    // It runs in between, so it is held up as much as what is measured.
    await work(() => this.#raw.command("EVAL", yardstick, 0));
    const log = (await this.#raw.text("SLOWLOG", "GET", -1)) as [number, number, number, string[]][];
    await this.#raw.command("CONFIG", "SET", "slowlog-log-slower-than", -1);
    const usual = (name: string) => {
      const times = log.filter(([, , , [command]]) => command === name).map(([, , micros]) => micros / 1_000);
      if (times.length < 20) throw new Error(`${name} ran ${times.length} times, too few to tell what is usual`);
      return times.toSorted((one, other) => one - other)[Math.floor(times.length * 0.95)] ?? Infinity;
    };
    return usual("EVALSHA") / Math.max(1, usual("EVAL"));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#engine.close();
    this.#raw.close();
    await this.#server.stop();
  }
}
