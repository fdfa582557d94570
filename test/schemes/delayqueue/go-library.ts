import type { RawRedis } from "../../support/raw-redis.js";

/**
 * A double of the Go library, which sends what was recorded of it, command by command. Tests run nothing beside a call of it,
 * as nothing runs beside the library's scripts. It has the library's faults: whole seconds, the clock of the client.
 */
export class GoLibrary {
  readonly #raw: RawRedis;
  readonly #base: string;
  readonly #payloads: string;
  readonly #consumeSeconds: number;

  /** `base`: what begins the name of each key but those of payloads, which `payloads` begins. */
  constructor(raw: RawRedis, { base = "dp:orders", payloads = "dp:orders:msg:", consumeSeconds = 5 } = {}) {
    this.#raw = raw;
    this.#base = base;
    this.#payloads = payloads;
    this.#consumeSeconds = consumeSeconds;
  }

  async send(id: string, payload: string, delay: number, retries = 3): Promise<void> {
    const due = Date.now() + delay;
    await this.#raw.command("SET", this.#payloads + id, payload, "PX", delay + 3_600_000);
    await this.#raw.command("HSET", this.#key("retry:cnt"), id, retries);
    await this.#raw.command("ZADD", this.#key("pending"), Math.floor(due / 1000), id);
  }

  /** One round: moves what is due, and gives what it took: ids and payloads, `null` where there was none. */
  async tick(): Promise<[id: string, payload: string | null][]> {
    await this.#pendingToReady();
    const taken = await this.#take("ready");
    await this.#unackToRetry();
    for (const id of (await this.#raw.text("SMEMBERS", this.#key("garbage"))) as string[]) {
      await this.#raw.command("DEL", this.#payloads + id);
      await this.#raw.command("SREM", this.#key("garbage"), id);
    }
    taken.push(...(await this.#take("retry")));
    return await Promise.all(
      taken.map(async (id): Promise<[string, string | null]> => [
        id,
        (await this.#raw.text("GET", this.#payloads + id)) as string | null,
      ]),
    );
  }

  async acknowledge(id: string): Promise<void> {
    await this.#raw.command("ZREM", this.#key("unack"), id);
    await this.#raw.command("DEL", this.#payloads + id);
    await this.#raw.command("HDEL", this.#key("retry:cnt"), id);
  }

  async refuse(id: string): Promise<void> {
    await this.#raw.command("ZADD", this.#key("unack"), now(), id);
  }

  async #pendingToReady(): Promise<void> {
    const due = (await this.#raw.text("ZRANGEBYSCORE", this.#key("pending"), 0, now())) as string[];
    if (due.length === 0) return;
    await this.#raw.command("LPUSH", this.#key("ready"), ...due);
    await this.#raw.command("ZREMRANGEBYSCORE", this.#key("pending"), 0, now());
  }

  async #take(list: "ready" | "retry"): Promise<string[]> {
    const taken: string[] = [];
    for (;;) {
      const id = (await this.#raw.text("RPOP", this.#key(list))) as string | null;
      if (id === null) return taken;
      await this.#raw.command("ZADD", this.#key("unack"), now() + this.#consumeSeconds, id);
      taken.push(id);
    }
  }

  async #unackToRetry(): Promise<void> {
    const ended = (await this.#raw.text("ZRANGEBYSCORE", this.#key("unack"), 0, now())) as string[];
    for (const id of ended) {
      const [count] = (await this.#raw.text("HMGET", this.#key("retry:cnt"), id)) as [string | null];
      if (Number(count ?? 0) > 0) {
        await this.#raw.command("HINCRBY", this.#key("retry:cnt"), id, -1);
        await this.#raw.command("LPUSH", this.#key("retry"), id);
      } else {
        await this.#raw.command("HDEL", this.#key("retry:cnt"), id);
        await this.#raw.command("SADD", this.#key("garbage"), id);
      }
    }
    if (ended.length > 0) await this.#raw.command("ZREM", this.#key("unack"), ...ended);
  }

  #key(name: string): string {
    return `${this.#base}:${name}`;
  }
}

function now(): number {
  return Math.floor(Date.now() / 1000);
}
