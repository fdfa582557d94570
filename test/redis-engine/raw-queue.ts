import { once } from "node:events";
import { EventEmitter } from "node:events";
import { nodeRedis } from "../../src/clients/node-redis.js";
import type { Connection } from "../../src/clients/port.js";
import { type QueueKeys, queueKeys } from "../../src/engines/redis/keys.js";
import { encodeBody } from "../../src/scripting/message-body.js";
import type { Evaluator } from "../../src/scripting/script.js";
import type { NewMessage } from "../../src/engine.js";
import { type RedisServer, startRedisServer } from "../../src/testing/redis-server.js";
import { type RawRedis, rawRedis } from "../support/raw-redis.js";
import { directEvaluator } from "./direct-evaluator.js";

/** A private Redis and raw access to the queues in it, for tests of scripts: state before, call, state after. */
export class ScriptBench implements AsyncDisposable {
  readonly server: RedisServer;
  readonly raw: RawRedis;
  readonly evaluator: Evaluator;
  readonly #connection: Connection;
  #queues = 0;

  private constructor(server: RedisServer, raw: RawRedis, connection: Connection) {
    this.server = server;
    this.raw = raw;
    this.#connection = connection;
    this.evaluator = directEvaluator(connection);
  }

  static async start(args: readonly string[] = []): Promise<ScriptBench> {
    const server = await startRedisServer({ args });
    const url = `unix://${server.socketPath}`;
    return new ScriptBench(server, await rawRedis(url), await nodeRedis({ url }).connect(1_000));
  }

  /** A queue of its own for each test. */
  queue(): RawQueue {
    return new RawQueue(this.raw, queueKeys("bench", `q${++this.#queues}`));
  }

  /** The server's time in whole ms. */
  async now(): Promise<number> {
    const [seconds, micros] = (await this.raw.text("TIME")) as [string, string];
    return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
  }

  /** Hears what a consumer is told. */
  async listen(queue: RawQueue, consumer: string): Promise<Ear> {
    const ear = new Ear(await nodeRedis({ url: `unix://${this.server.socketPath}` }).connect(1_000));
    await ear.subscribe(queue.keys.channel + consumer);
    return ear;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#connection.destroy();
    this.raw.close();
    await this.server.stop();
  }
}

/** One consumer's channel. */
export class Ear implements Disposable {
  readonly heard: string[] = [];
  readonly #connection: Connection;
  readonly #news = new EventEmitter();

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async subscribe(channel: string): Promise<void> {
    await this.#connection.subscribe(channel, (message) => {
      this.heard.push(message.toString());
      this.#news.emit("heard");
    });
  }

  /** What was heard so far, once it is `count` messages; the reply of a later command comes after all that was published. */
  async all(count: number): Promise<string[]> {
    await this.#connection.send(["PING"]);
    while (this.heard.length < count) await once(this.#news, "heard");
    return this.heard;
  }

  /** The consumer is gone, as the server sees it. */
  async leave(channel: string): Promise<void> {
    await this.#connection.unsubscribe(channel);
  }

  [Symbol.dispose](): void {
    this.#connection.destroy();
  }
}

type Body = Partial<Pick<NewMessage, "payload" | "attempts" | "headers">> & { readonly expiresAt?: number };

/** The keys of one queue, written and read past the code under test. */
export class RawQueue {
  readonly keys: QueueKeys;
  readonly #raw: RawRedis;
  #sequence = 0;

  constructor(raw: RawRedis, keys: QueueKeys) {
    this.#raw = raw;
    this.keys = keys;
  }

  /** A message in `schedule`. */
  async scheduled(id: string, due: number, body: Body = {}): Promise<void> {
    const sequence = await this.stored(id, body);
    await this.#raw.command("ZADD", this.keys.schedule, due, Buffer.concat([sequence, Buffer.from(id)]));
  }

  /** A message under a lease. */
  async leased(
    id: string,
    lease: { until: number; due: number; token: string; attempts: number },
    body: Body = {},
  ): Promise<void> {
    const sequence = await this.stored(id, body);
    const value = Buffer.alloc(19);
    sequence.copy(value);
    value.writeDoubleBE(lease.due, 7);
    value.writeUInt32BE(lease.attempts, 15);
    await this.#raw.command("ZADD", this.keys.leases, lease.until, id);
    await this.#raw.command("HSET", this.keys.leased, id, Buffer.concat([value, Buffer.from(lease.token)]));
  }

  /** Attempts of a message that failed. */
  async failed(id: string, attempts: number, error = "", at = 0): Promise<void> {
    const value = Buffer.alloc(22);
    value.writeUInt32BE(attempts, 0);
    value.writeDoubleBE(at, 4);
    await this.#raw.command("HSET", this.keys.failures, id, Buffer.concat([value, Buffer.from(error)]));
  }

  /** A body without an index entry; gives its sequence number. */
  async stored(id: string, { payload = Buffer.from(id), attempts, headers, expiresAt }: Body): Promise<Buffer> {
    const sequence = Buffer.alloc(7);
    sequence.writeUIntBE(++this.#sequence, 1, 6);
    // What a client sends as the time to expiry stands in the place of the time of expiry.
    const value = Buffer.concat([sequence, encodeBody({ payload, attempts, headers, expiresIn: expiresAt })]);
    await this.#raw.command("HSET", this.keys.messages, id, value);
    const biggest = Number((await this.#raw.text("HGET", this.keys.state, "biggest")) ?? 0);
    await this.#raw.command("HSET", this.keys.state, "v", 1, "biggest", Math.max(biggest, value.length));
    return sequence;
  }

  /** Ids in `schedule`, in order, with their due times. */
  async schedule(): Promise<[string, number][]> {
    const flat = (await this.#raw.command("ZRANGE", this.keys.schedule, 0, -1, "WITHSCORES")) as Buffer[];
    return pairs(flat).map(([member, score]) => [member.subarray(7).toString(), Number(score.toString())]);
  }

  /** `leases`, `dead`, `waiting` or `gone`: member → score. */
  async scores(key: "leases" | "dead" | "waiting" | "gone"): Promise<Record<string, number>> {
    const flat = (await this.#raw.command("ZRANGE", this.keys[key], 0, -1, "WITHSCORES")) as Buffer[];
    return Object.fromEntries(pairs(flat).map(([member, score]) => [member.toString(), Number(score.toString())]));
  }

  /** The fence: id → what `leased` holds. */
  async fence(): Promise<Record<string, { due: number; attempts: number; token: string }>> {
    return Object.fromEntries(
      Object.entries(await this.hash("leased")).map(([id, value]) => [
        id,
        { due: value.readDoubleBE(7), attempts: value.readUInt32BE(15), token: value.toString("utf8", 19) },
      ]),
    );
  }

  /** A hash: field → bytes. */
  async hash(key: "messages" | "leased" | "failures" | "claims" | "state"): Promise<Record<string, Buffer>> {
    const flat = (await this.#raw.command("HGETALL", this.keys[key])) as Buffer[];
    return Object.fromEntries(pairs(flat).map(([field, value]) => [field.toString(), value]));
  }

  /** How Redis keeps a key, such as `listpack`. */
  async encoding(key: "leases" | "leased"): Promise<unknown> {
    return await this.#raw.text("OBJECT", "ENCODING", this.keys[key]);
  }

  /** A hash as text. */
  async texts(key: "claims" | "state"): Promise<Record<string, string>> {
    return Object.fromEntries(Object.entries(await this.hash(key)).map(([field, value]) => [field, value.toString()]));
  }
}

function pairs(flat: readonly Buffer[]): [Buffer, Buffer][] {
  return Array.from({ length: flat.length / 2 }, (_, index) => [flat[2 * index]!, flat[2 * index + 1]!]);
}
