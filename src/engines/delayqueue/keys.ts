import { type WakingKeys, wakingKeys } from "../../waking/keys.js";
import type { DelayqueueSettings } from "./options.js";

/** Every name that the engine uses in Redis is made here: those of the Go library, and our own beside them. */
export interface DelayqueueKeys extends WakingKeys {
  /** zset: id → when it is due, seconds. */
  readonly pending: string;
  /** list: ids that are due. The Go library fills it; this one only takes from it. */
  readonly ready: string;
  /** zset: id → when its lease ends, seconds. */
  readonly unack: string;
  /** list: ids whose lease has ended. The Go library fills it; this one only takes from it. */
  readonly retry: string;
  /** hash: id → retries left. */
  readonly counts: string;
  /** set: ids out of retries, to be deleted. The Go library fills it. */
  readonly garbage: string;
  /**
   * Stem of the keys of payloads; an id follows. The format has a key for each, and a claim learns the ids in its script, so
   * scripts add them to the stem. It stands among their keys: in a Cluster it shows whether payloads share the slot of the rest.
   */
  readonly messages: string;
  /** Stem of the keys of our notes; an id follows. */
  readonly notes: string;
  /** Channel of events; empty when they are not reported. */
  readonly events: string;
}

export function delayqueueKeys(
  { hashTag, prefix, reportEvents }: Pick<DelayqueueSettings, "hashTag" | "prefix" | "reportEvents">,
  queue: string,
): DelayqueueKeys {
  const tagged = (name: string) => (hashTag ? `{${name}}` : name);
  const base = tagged(`${prefix}:${queue}`);
  const ours = `${base}:punctual`;
  return {
    ...wakingKeys(ours),
    pending: `${base}:pending`,
    ready: `${base}:ready`,
    unack: `${base}:unack`,
    retry: `${base}:retry`,
    counts: `${base}:retry:cnt`,
    garbage: `${base}:garbage`,
    // Whatever the prefix: so does the Go library.
    messages: `${tagged(`dp:${queue}`)}:msg:`,
    notes: `${ours}:note:`,
    events: reportEvents ? `dq:${queue}:reportEvents` : "",
  };
}
