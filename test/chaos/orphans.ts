import type { AuditReport, EngineQueue, MessageState } from "../../src/engine.js";
import type { QueueKeys } from "../../src/engines/redis/keys.js";
import { mismatches, type Mismatch } from "../../src/engines/redis/scripts/audit-check.js";
import { RawQueue } from "../redis-engine/raw-queue.js";
import type { RawRedis } from "../support/raw-redis.js";

/** So far ahead that nothing comes due, and no lease ends, before it is mended. */
const far = 9e12;
const held = { until: far, due: 5, token: "planted", attempts: 5 };
/** How many of each kind. */
const copies = 3;

interface Kind {
  readonly plant: (queue: RawQueue, id: string, raw: RawRedis) => Promise<unknown>;
  /** What it is when it is mended; `delivered` when it is due at once, undefined when nothing is left. */
  readonly after: MessageState | "delivered" | undefined;
}

/** An entry of the schedule that belongs to another message. */
const stray = (id: string) => Buffer.concat([Buffer.from([9, 9, 9, 9, 9, 9, 9]), Buffer.from(id)]);

const kinds: Readonly<Record<Mismatch, Kind>> = {
  "schedule-without-message": {
    plant: ({ keys }, id, raw) => raw.command("ZADD", keys.schedule, far, stray(id)),
    after: undefined,
  },
  "schedule-stale": {
    plant: async (queue, id, raw) => {
      await queue.scheduled(id, far);
      await raw.command("ZADD", queue.keys.schedule, far, stray(id));
    },
    after: "scheduled",
  },
  "message-without-index": { plant: (queue, id) => queue.stored(id, {}), after: "delivered" },
  "message-in-two-indexes": {
    plant: async (queue, id, raw) => {
      await queue.scheduled(id, far);
      await queue.failed(id, 1);
      await raw.command("ZADD", queue.keys.dead, 5, id);
    },
    after: "scheduled",
  },
  "lease-without-message": {
    plant: async (queue, id, raw) => {
      await queue.leased(id, held);
      await raw.command("HDEL", queue.keys.messages, id);
    },
    after: undefined,
  },
  "lease-without-fence": {
    plant: async (queue, id, raw) => {
      await queue.leased(id, held);
      await raw.command("HDEL", queue.keys.leased, id);
    },
    after: "delivered",
  },
  "fence-without-lease": {
    plant: async (queue, id, raw) => {
      await queue.leased(id, held);
      await raw.command("ZREM", queue.keys.leases, id);
    },
    after: "delivered",
  },
  "lease-stale": {
    plant: async (queue, id) => {
      await queue.leased(id, held);
      await queue.stored(id, {});
    },
    after: "leased",
  },
  "dead-without-message": { plant: ({ keys }, id, raw) => raw.command("ZADD", keys.dead, 5, id), after: undefined },
  "dead-without-failure": {
    plant: async (queue, id, raw) => {
      await queue.stored(id, {});
      await raw.command("ZADD", queue.keys.dead, 5, id);
    },
    after: "dead",
  },
  "failure-without-message": { plant: (queue, id) => queue.failed(id, 1), after: undefined },
};

/** Plants some of every kind of orphan by raw commands, has them repaired, and sees what became of them. */
export class Orphans {
  /** Those that are made due by the repair, and so delivered once. */
  readonly delivered: ReadonlySet<string>;
  /** What did not go as it should. */
  readonly broken: string[] = [];
  readonly #raw: RawRedis;
  readonly #queue: EngineQueue;
  readonly #keys: QueueKeys;
  readonly #planted: readonly { readonly id: string; readonly kind: Mismatch }[];

  constructor(raw: RawRedis, queue: EngineQueue, keys: QueueKeys) {
    this.#raw = raw;
    this.#queue = queue;
    this.#keys = keys;
    this.#planted = (Object.keys(mismatches) as Mismatch[]).flatMap((kind) =>
      Array.from({ length: copies }, (_, n) => ({ id: `${kind}-${n}`, kind })),
    );
    this.delivered = new Set(this.#planted.filter(({ kind }) => kinds[kind].after === "delivered").map(({ id }) => id));
  }

  get count(): number {
    return this.#planted.length;
  }

  /** While others work: plants, looks, repairs, looks again. */
  async run(): Promise<void> {
    const queue = new RawQueue(this.#raw, this.#keys);
    for (const { id, kind } of this.#planted) await kinds[kind].plant(queue, id, this.#raw);
    this.#compare("audit()", await this.#queue.audit());
    this.#compare("repair()", await this.#queue.repair());
    const { problems } = await this.#queue.audit();
    for (const { id, detail } of problems) this.broken.push(`after repair(): ${detail} ${id}`);
    await this.#lookAfter();
  }

  #compare(call: string, { problems }: AuditReport): void {
    const planted = new Set(this.#planted.map(({ id, kind }) => `${kind} ${id}`));
    const found = new Set(problems.map(({ id, kind }) => `${kind} ${id}`));
    for (const one of planted) if (!found.has(one)) this.broken.push(`${call} did not find ${one}`);
    for (const one of found) if (!planted.has(one)) this.broken.push(`${call} found what nobody planted: ${one}`);
  }

  /** Whether each is what it should be; takes away those that would stay. */
  async #lookAfter(): Promise<void> {
    for (const { id, kind } of this.#planted) {
      const { after } = kinds[kind];
      if (after === "delivered") continue;
      const [message] = await this.#queue.get([id]);
      if (message?.state !== after) this.broken.push(`${id} is ${message?.state ?? "gone"}, not ${after ?? "gone"}`);
      // The lease that was mended is still that of its holder.
      const gone =
        after === "leased"
          ? (await this.#queue.acknowledge([{ id, token: held.token, leaseUntil: far }]))[0] === "settled"
          : after === undefined || (await this.#queue.cancel([id]))[0] === "cancelled";
      if (!gone) this.broken.push(`${id} could not be taken away`);
    }
  }
}
