import { type WakingKeys, wakingKeys } from "../../waking/keys.js";

/** The keys of a queue, all in one slot. */
export interface KeyExpiryKeys extends WakingKeys {
  /** set: the ids of all messages that wait, so that a sweep need not read the names of all keys of the server. */
  readonly ids: string;
  /** Prefix of the timers: an empty string for each message that is not due yet, which expires when it is. The id follows. */
  readonly due: string;
  /** Prefix of the messages: a string each. The id follows. */
  readonly message: string;
  /** A timer of no message: its expiry shows that expiries are told. No id is empty. */
  readonly probe: string;
  /** The channel on which scripts tell what is due at once, and the end of a pause. */
  readonly told: string;
}

export function keyExpiryKeys(base: string): KeyExpiryKeys {
  return {
    ...wakingKeys(base),
    ids: `${base}:ids`,
    due: `${base}:due:`,
    message: `${base}:message:`,
    probe: `${base}:due:`,
    told: `${base}:told`,
  };
}

/** The timer and the message of each id, as scripts take them behind the keys that they name. */
export function pairsOf(keys: KeyExpiryKeys, ids: readonly string[]): string[] {
  return ids.flatMap((id) => [keys.due + id, keys.message + id]);
}
