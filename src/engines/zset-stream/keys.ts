import { type WakingKeys, wakingKeys } from "../../waking/keys.js";

/** What the queue keeps for all groups together. */
export interface SharedKeys {
  /** zset: sequence number and id → due time; of messages that were not moved to the stream yet. */
  readonly schedule: string;
  /** hash: id → sequence number, options, payload. */
  readonly messages: string;
  /** hash: id of a message in the stream → due time, and the id of its entry. */
  readonly moved: string;
  /** hash: what `moved` was when somebody deleted the stream; emptied by the claims that follow. */
  readonly lost: string;
  /** stream: an entry for each message that came due, until every group is done with it. */
  readonly stream: string;
  /** set: the groups. */
  readonly groups: string;
  /** hash: sequence, pause, layout version, size of the largest message, how long ids stay known. */
  readonly queue: string;
  /** zset: id of a message that is gone → until when the id stays known. */
  readonly gone: string;
}

/** What the queue keeps for one group. */
export interface GroupKeys extends WakingKeys {
  /** zset: sequence number and id → when its lease ends. */
  readonly leases: string;
  /** zset: sequence number and id → when it is due again, after a retry, a release or a revival. */
  readonly again: string;
  /** hash: id → what the group has of the message, from the first delivery until the group is done with it. */
  readonly copies: string;
  /** zset: id → when it was buried. */
  readonly dead: string;
  /** hash: id → the last error and the reason of burial; only of messages that failed. */
  readonly failures: string;
}

/** The keys that an engine of one group works with. */
export interface StreamKeys extends SharedKeys, GroupKeys {}

/** The keys of a group in the order in which scripts that work on all groups take them: snippets/groups.lua. */
export const keysOfEachGroup = ["state", "waiting", "leases", "again", "copies", "dead", "failures"] as const;

/** `base` begins every name, and holds the hash tag that keeps all of them in one slot. */
export function sharedKeys(base: string): SharedKeys {
  return {
    schedule: `${base}:schedule`,
    messages: `${base}:messages`,
    moved: `${base}:moved`,
    lost: `${base}:lost`,
    stream: `${base}:stream`,
    groups: `${base}:groups`,
    queue: `${base}:queue`,
    gone: `${base}:gone`,
  };
}

export function groupKeys(base: string, group: string): GroupKeys {
  const own = `${base}:group:${group}`;
  return {
    ...wakingKeys(own),
    leases: `${own}:leases`,
    again: `${own}:again`,
    copies: `${own}:copies`,
    dead: `${own}:dead`,
    failures: `${own}:failures`,
  };
}
