import { type Entry, readJournals } from "./journal.js";

type Of<Kind extends Entry["kind"]> = Extract<Entry, { readonly kind: Kind }> & { readonly process: string };

/** One delivery, as the process that had it saw it. */
export interface DeliverySeen {
  readonly started: Of<"started">;
  ending?: Of<"ending">;
  ended?: Of<"ended">;
  lost?: Of<"lost">;
}

/** All that is known of one message. */
export interface Story {
  /** When it was first asked for. */
  asked?: Of<"asked">;
  told: Of<"told">[];
  cancelling?: Of<"cancelling">;
  cancelled: Of<"cancelled">[];
  /** In the order in which they started. */
  deliveries: DeliverySeen[];
}

/** What all processes have written, by message. */
export interface Stories {
  readonly byId: ReadonlyMap<string, Story>;
  readonly failures: readonly Of<"failed">[];
}

/** Reads the journals of a run that is over. */
export function readStories(folder: string): Stories {
  return tellStories(readJournals(folder));
}

export function tellStories(
  journals: Iterable<{ readonly process: string; readonly entries: readonly Entry[] }>,
): Stories {
  const byId = new Map<string, Story>();
  const failures: Of<"failed">[] = [];
  for (const { process, entries } of journals) {
    for (const entry of entries) {
      if (entry.kind === "failed") failures.push({ ...entry, process });
      else note(storyOf(byId, entry.id), { ...entry, process });
    }
  }
  for (const { deliveries } of byId.values()) deliveries.sort(inOrder);
  return { byId, failures };
}

/** A message that is released may start again elsewhere in the same ms. */
function inOrder(one: DeliverySeen, other: DeliverySeen): number {
  const releases = ({ ending }: DeliverySeen) => (ending?.how === "released" ? 0 : 1);
  return (
    one.started.at - other.started.at || one.started.attempt - other.started.attempt || releases(one) - releases(other)
  );
}

function storyOf(byId: Map<string, Story>, id: string): Story {
  const known = byId.get(id);
  if (known !== undefined) return known;
  const story: Story = { told: [], cancelled: [], deliveries: [] };
  byId.set(id, story);
  return story;
}

function note(story: Story, entry: Of<Exclude<Entry["kind"], "failed">>): void {
  switch (entry.kind) {
    case "asked":
      if (story.asked === undefined || entry.at < story.asked.at) story.asked = entry;
      return;
    case "told":
      story.told.push(entry);
      return;
    case "cancelling":
      story.cancelling = entry;
      return;
    case "cancelled":
      story.cancelled.push(entry);
      return;
    case "started":
      story.deliveries.push({ started: entry });
      return;
    case "ending":
    case "ended":
    case "lost": {
      const delivery = story.deliveries.findLast((one) => isOf(one, entry));
      if (delivery === undefined) return;
      if (entry.kind === "ending") delivery.ending = entry;
      else if (entry.kind === "ended") delivery.ended = entry;
      else delivery.lost = entry;
    }
  }
}

/** A message that was released may start again in the same process before its release is known to be done. */
function isOf({ started, ending, ended }: DeliverySeen, entry: Of<"ending" | "ended" | "lost">): boolean {
  if (started.process !== entry.process || started.attempt !== entry.attempt) return false;
  return entry.kind !== "ended" || (ended === undefined && ending?.how === entry.how);
}
