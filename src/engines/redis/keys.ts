import type { WakingKeys } from "../../waking/keys.js";

/** Every name that the engine uses in Redis is made here. All keys of a queue carry one hash tag, so they share a slot. */
export interface QueueKeys extends WakingKeys {
  /** zset: sequence number and id → due time. */
  readonly schedule: string;
  /** hash: id → sequence number, options, payload. */
  readonly messages: string;
  /** zset: id → when its lease ends. */
  readonly leases: string;
  /** hash: id → sequence number, due time, limit of attempts, token of the lease. */
  readonly leased: string;
  /** hash: id → attempts so far and the last error; only of messages that failed. */
  readonly failures: string;
  /** zset: id → when it was buried. */
  readonly dead: string;
  /** hash: consumer → its last claim. */
  readonly claims: string;
  /** hash: sequence, layout version, pause, who is on duty, how long ids stay known. */
  readonly state: string;
  /** zset: consumers with room → until when their wait counts. */
  readonly waiting: string;
  /** zset: id of a message that is gone → until when the id stays known. */
  readonly gone: string;
  /** Prefix of the channels on which consumers are woken; a consumer's name follows. */
  readonly channel: string;
}

export function queueKeys(prefix: string, queue: string): QueueKeys {
  const base = `{${prefix}:${queue}}`;
  return {
    schedule: `${base}:schedule`,
    messages: `${base}:messages`,
    leases: `${base}:leases`,
    leased: `${base}:leased`,
    failures: `${base}:failures`,
    dead: `${base}:dead`,
    claims: `${base}:claims`,
    state: `${base}:state`,
    waiting: `${base}:waiting`,
    gone: `${base}:gone`,
    channel: `${base}:wake:`,
  };
}
