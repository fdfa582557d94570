import type { ConsumerHealth } from "../../../src/consumer/health.js";

/**
 * What a consumer process tells of itself, a line each, before it does anything else: what was written to its pipe is read even
 * when it is killed. Times are Unix ms of this machine, on which Redis runs, too, whatever the clock of the process is set to.
 */
export type Saying = { readonly at: number } & (
  | {
      readonly kind: "started";
      readonly id: string;
      readonly attempt: number;
      readonly dueAt: number;
      readonly digest: string;
    }
  /** The handler is about to end in this way. */
  | { readonly kind: "ending"; readonly id: string; readonly attempt: number; readonly how: Ending }
  /** It is known that it did. */
  | { readonly kind: "ended"; readonly id: string; readonly attempt: number; readonly how: Ending }
  | { readonly kind: "lost"; readonly id: string; readonly attempt: number; readonly code: string }
  /** A settlement or a claim that did not succeed. */
  | { readonly kind: "failed"; readonly id: string; readonly attempt?: number; readonly code: string }
  | { readonly kind: "health"; readonly state: ConsumerHealth["state"] }
  /** Its event loop was blocked, and is free again. */
  | { readonly kind: "unblocked" }
);

export type Ending = "acknowledged" | "retried" | "released" | "buried";

/** A saying without its time. */
export type Said = Saying extends infer S ? (S extends Saying ? Omit<S, "at"> : never) : never;

/** What a consumer process is told. */
export type Order =
  | "close"
  | "let go"
  | { readonly block: number }
  /** How far its clock jumps ahead, or back, ms. */
  | { readonly stepClock: number };

/** Ids of messages that are held until their consumer is told to let go. */
export const isProbe = (id: string): boolean => id.startsWith("probe-");
