import { wakingKeys } from "../waking/keys.js";
import type { TurnKeys } from "../waking/turn.js";

/** The keys of a queue whose messages are members of a zset. */
export interface MemberKeys extends TurnKeys {
  /** zset: where they wait in a pause, out of the reach of claims. Left out by an engine whose claims ask for a pause. */
  readonly parked?: string | undefined;
}

/** The keys of a queue whose claims take straight from the zset. */
export function memberKeys(base: string): MemberKeys {
  return { ...wakingKeys(base), schedule: `${base}:schedule`, parked: `${base}:parked` };
}

/** What scripts are given that look whether there is a pause. */
export function withParked(keys: MemberKeys): MemberKeys & { readonly parked: string } {
  return { ...keys, parked: keys.parked ?? keys.schedule };
}
