import type { Ending, Saying } from "./saying.js";

/** One delivery, as the process that had it saw it. */
export interface DeliverySeen {
  readonly process: string;
  readonly at: number;
  readonly attempt: number;
  readonly dueAt: number;
  readonly digest: string;
  ending?: { readonly at: number; readonly how: Ending };
  ended?: { readonly at: number; readonly how: Ending };
  lost?: { readonly at: number; readonly code: string };
  /** Its settlement failed with this code. */
  failed?: { readonly at: number; readonly code: string };
}

/** What schedule answered. */
export type Told = { readonly at: number } & (
  | { readonly outcome: string; readonly dueAt: number }
  | { readonly failed: string }
);

/** All that was asked, told and seen of one message. */
export interface Story {
  readonly number: number;
  readonly askedAt: number;
  told?: Told;
  /** What cancel answered: an outcome or the code of a failure. */
  readonly cancels: { readonly askedAt: number; readonly at: number; readonly outcome: string }[];
  readonly deliveries: DeliverySeen[];
}

type OfMessage = Extract<Saying, { readonly id: string }>;

/** Adds what a consumer process said of the message. */
export function note(story: Story, process: string, saying: OfMessage): void {
  if (saying.kind === "started") {
    const { at, attempt, dueAt, digest } = saying;
    story.deliveries.push({ process, at, attempt, dueAt, digest });
    return;
  }
  const delivery = story.deliveries.findLast((one) => isOf(one, process, saying));
  if (delivery === undefined) return;
  const { at } = saying;
  if (saying.kind === "lost") delivery.lost = { at, code: saying.code };
  else if (saying.kind === "failed") delivery.failed = { at, code: saying.code };
  else delivery[saying.kind] = { at, how: saying.how };
}

/** A message may start again in the same process before it is known how its settlement went, one that was released as it was. */
function isOf({ process, attempt, ending, ended }: DeliverySeen, speaker: string, saying: OfMessage): boolean {
  if (process !== speaker || (saying.attempt !== undefined && attempt !== saying.attempt)) return false;
  if (saying.kind === "failed") return ended === undefined;
  return saying.kind !== "ended" || (ended === undefined && ending?.how === saying.how);
}

/** How a message ended. */
export type Fate = "acknowledged" | "buried" | "cancelled" | "never stored";

/** What schedule fails with when nothing was stored. */
const storesNothing = new Set(["not-sent", "refused", "storage-full", "misconfigured"]);

/** How the message ended, and when; undefined as long as that is open. */
export function fateOf({ told, cancels, deliveries }: Story): { readonly fate: Fate; readonly at: number } | undefined {
  for (const { ended } of deliveries) {
    if (ended?.how === "acknowledged" || ended?.how === "buried") return { fate: ended.how, at: ended.at };
  }
  const gone = cancels.find(({ outcome }) => outcome === "cancelled");
  if (gone !== undefined) return { fate: "cancelled", at: gone.at };
  if (told !== undefined && "failed" in told && storesNothing.has(told.failed)) {
    return { fate: "never stored", at: told.at };
  }
  return undefined;
}

/** When something was told of the message, so that a failover at that time may have made Redis forget it. */
export function* toldAt({ told, cancels, deliveries }: Story): Generator<number> {
  if (told !== undefined) yield told.at;
  for (const { at } of cancels) yield at;
  for (const { at, ending, ended, lost, failed } of deliveries) {
    yield at;
    for (const moment of [ending, ended, lost, failed]) if (moment !== undefined) yield moment.at;
  }
}
