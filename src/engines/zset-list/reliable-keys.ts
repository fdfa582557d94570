import { wakingKeys } from "../../waking/keys.js";
import type { LineKeys } from "./line-keys.js";

/** The keys of a queue that keeps its messages until they are acknowledged. */
export interface ReliableKeys extends LineKeys {
  /** hash: id → sequence number and body. */
  readonly messages: string;
  /** hash: id → what became of it: leased, dead or failed before. */
  readonly standing: string;
  /** zset: id → end of its lease. */
  readonly leases: string;
  /** zset: id → when it was buried. */
  readonly dead: string;
  /** zset: id → until when it is remembered, though its message is gone. */
  readonly gone: string;
  /** zset: consumer that popped or may pop into its hand → until when it is to claim that. */
  readonly hands: string;
  /** list: what one consumer popped when it blocked, until its claim. */
  readonly handOf: (consumer: string) => string;
}

export function reliableKeys(base: string): ReliableKeys {
  return {
    ...wakingKeys(base),
    schedule: `${base}:schedule`,
    ready: `${base}:ready`,
    messages: `${base}:messages`,
    standing: `${base}:standing`,
    leases: `${base}:leases`,
    dead: `${base}:dead`,
    gone: `${base}:gone`,
    hands: `${base}:hands`,
    handOf: (consumer) => `${base}:hand:${consumer}`,
  };
}
