/** What waking keeps in Redis, beside the messages and in their slot. */
export interface WakingKeys {
  /** hash: consumer → its last claim. */
  readonly claims: string;
  /** hash: who is on duty and until when; the layout version. */
  readonly state: string;
  /** zset: consumers with room → until when their wait counts. */
  readonly waiting: string;
  /** Prefix of the channels on which consumers are woken; a consumer's name follows. */
  readonly channel: string;
}

/** These keys under a base, which begins every name and holds the hash tag that keeps them in one slot. */
export function wakingKeys(base: string): WakingKeys {
  return { claims: `${base}:claims`, state: `${base}:state`, waiting: `${base}:waiting`, channel: `${base}:wake:` };
}

/** After how long a consumer claims again although it was told of nothing, ms: as in snippets/wake.lua. */
export const poll = 5_000;
