import { nodeRedis } from "../../src/clients/node-redis.js";
import type { CommandArgument, Connection } from "../../src/clients/port.js";
import type { DeadLetterBounds } from "../../src/dead-letter-bounds.js";
import type { EngineQueue, OpenOptions } from "../../src/engine.js";
import { queueKeys } from "../../src/engines/redis/keys.js";
import { RedisQueue } from "../../src/engines/redis/redis-queue.js";
import { defineScript, type Evaluation, type Evaluator, type Script } from "../../src/scripting/script.js";
import { ServerClock } from "../../src/connection/server-clock.js";
import { Supervisor } from "../../src/connection/supervisor.js";
import { directEvaluator } from "../redis-engine/direct-evaluator.js";
import type { SteppedClock } from "./stepped-clock.js";

const askForTime = 'redis.call("TIME")';

/**
 * The same script, but that it takes the time from a hash, a second and a microsecond as TIME gives them. Fails unless the
 * script asks for the time in exactly one place, so that none can come from elsewhere.
 */
export function timedScript({ name, source }: Script, timeKey: string): Script {
  const parts = source.split(askForTime);
  if (parts.length !== 2 || /["']TIME["']/i.test(parts.join(""))) {
    throw new Error(
      `The script ${name} asks for the time ${parts.length - 1} times, or in another way; once is wanted.`,
    );
  }
  return defineScript(name, parts.join(`redis.call("HMGET", "${timeKey}", "s", "us")`));
}

/** A supervisor that runs every script once, by a time that it is given. Faults of connections are not its subject. */
class TimedSupervisor extends Supervisor {
  readonly #evaluator: Evaluator;

  constructor(evaluator: Evaluator, clock: ServerClock) {
    super({
      connector: { target: "no server", connect: () => Promise.reject(new Error("It never connects.")) },
      clock,
    });
    this.#evaluator = evaluator;
  }

  override evaluate(script: Script, keys: readonly string[], args: readonly CommandArgument[]): Promise<Evaluation> {
    return this.#evaluator.evaluate(script, keys, args);
  }
}

/** The Redis engine on a private server whose time is that of a clock: its real scripts, its real queue. */
export class TimedRedis implements AsyncDisposable {
  readonly #connection: Connection;
  readonly #clock: SteppedClock;
  readonly #supervisor: Supervisor;
  readonly #keys = queueKeys("model", "q");
  readonly #timeKey = "{model:q}:time";
  readonly #timed = new Map<string, Script>();
  #told: number | undefined;

  private constructor(connection: Connection, clock: SteppedClock) {
    this.#connection = connection;
    this.#clock = clock;
    const direct = directEvaluator(connection);
    // It learns of no reply, so it shows the time of the clock.
    const serverClock = new ServerClock({ monotonic: () => clock.time, wall: () => clock.time });
    this.#supervisor = new TimedSupervisor(
      { clock, evaluate: (script, ...rest) => direct.evaluate(this.#withTime(script), ...rest) },
      serverClock,
    );
  }

  static async connect(url: string, clock: SteppedClock): Promise<TimedRedis> {
    return new TimedRedis(await nodeRedis({ url }).connect(5_000), clock);
  }

  open(bounds: DeadLetterBounds, { rememberFor, onDropped }: OpenOptions): EngineQueue {
    const bounded = { ...bounds, onDropped };
    return new RedisQueue({
      work: this.#supervisor,
      calls: this.#supervisor,
      keys: this.#keys,
      rememberFor,
      bounded,
    });
  }

  /** Forgets all messages; the scripts stay known. */
  async flush(): Promise<void> {
    this.#told = undefined;
    await this.#connection.send(["FLUSHDB", "SYNC"]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#supervisor.close();
    this.#connection.destroy();
  }

  /** Tells the server the time, if it is another one, and gives the script that reads it. Commands run in their order. */
  #withTime(script: Script): Script {
    const { time } = this.#clock;
    if (time !== this.#told) {
      const microseconds = Math.round(time * 1_000);
      const parts = ["s", String(Math.floor(microseconds / 1e6)), "us", String(microseconds % 1e6)];
      // What is wrong with the connection, the script behind it tells.
      this.#connection.send(["HSET", this.#timeKey, ...parts]).catch(() => {});
      this.#told = time;
    }
    const timed = this.#timed.get(script.name) ?? timedScript(script, this.#timeKey);
    this.#timed.set(script.name, timed);
    return timed;
  }
}
