import type { AuditReport, Counts } from "../../../src/engine.js";
import type { QueueKeys } from "../../../src/engines/redis/keys.js";
import { RawQueue } from "../../redis-engine/raw-queue.js";
import type { RawRedis } from "../../support/raw-redis.js";

/** What lies in Redis when a run is over, read past the code under test, and what `counts()` and `audit()` say of it. */
export interface Remains {
  readonly waiting: readonly string[];
  readonly leased: readonly string[];
  readonly dead: readonly string[];
  /** Ids with a body. */
  readonly stored: readonly string[];
  /** Ids with a token. */
  readonly fenced: readonly string[];
  readonly counts: Counts;
  /** What `audit()` found. */
  readonly found: AuditReport["problems"];
}

export async function remainsOf(
  raw: RawRedis,
  keys: QueueKeys,
  told: Pick<Remains, "counts" | "found">,
): Promise<Remains> {
  const queue = new RawQueue(raw, keys);
  return {
    waiting: (await queue.schedule()).map(([id]) => id),
    leased: Object.keys(await queue.scores("leases")),
    dead: Object.keys(await queue.scores("dead")),
    stored: Object.keys(await queue.hash("messages")),
    fenced: Object.keys(await queue.hash("leased")),
    ...told,
  };
}
