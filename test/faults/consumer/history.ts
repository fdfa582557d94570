import { EventEmitter } from "node:events";
import type { ConsumerHealth } from "../../../src/consumer/health.js";
import type { Task } from "./task.js";

/** What one consumer did, as it happened. Plain values: a child process sends them. Times are Unix ms of this machine, on which Redis runs, too. */
export type Entry = { readonly consumer: string; readonly at: number } & (
  | {
      readonly kind: "started";
      readonly id: string;
      readonly attempt: number;
      readonly dueAt: number;
      readonly task: Task;
    }
  | { readonly kind: "settled"; readonly id: string; readonly attempt: number; readonly how: Settled }
  | { readonly kind: "lost"; readonly id: string; readonly attempt: number; readonly code: string }
  /** What was done by hand and was rejected. */
  | { readonly kind: "refused"; readonly id: string; readonly code: string }
  | { readonly kind: "failed"; readonly code: string; readonly id?: string | undefined }
  | { readonly kind: "extended"; readonly id: string }
  | { readonly kind: "recovered" }
  | { readonly kind: "health"; readonly state: ConsumerHealth["state"]; readonly lastClaimAt?: number | undefined }
);

export type Settled = "acknowledged" | "retried" | "released" | "buried";
export type EntryOf<Kind extends Entry["kind"]> = Extract<Entry, { readonly kind: Kind }>;

/** A message that was handed over, and what was told of it. */
export interface Asked {
  readonly task: Task;
  /** It must not be delivered before this, whatever delay Redis counts from. */
  readonly earliest: number;
  /** What schedule told; undefined as long as it is under way. */
  told?: { readonly outcome: string; readonly dueAt: number } | { readonly failed: string };
  /** When it was told. */
  toldAt?: number;
  /** What cancel told. */
  cancelled?: { readonly outcome: string; readonly at: number };
}

/** A time in which Redis could answer nobody. */
export interface Outage {
  readonly from: number;
  readonly to: number;
  /** How long after its begin a consumer may still call itself running. */
  readonly noticedWithin: number;
}

/** All that was asked, told and seen in one run. */
export class History {
  readonly asked = new Map<string, Asked>();
  readonly entries: Entry[] = [];
  readonly outages: Outage[] = [];
  /** Starts by id, in the order in which they were told. */
  readonly starts = new Map<string, EntryOf<"started">[]>();
  readonly acknowledged = new Set<string>();
  readonly buried = new Set<string>();
  /** The last health of each consumer. */
  readonly health = new Map<string, EntryOf<"health">>();
  readonly #news = new EventEmitter().setMaxListeners(0);

  readonly add = (entry: Entry): void => {
    this.entries.push(entry);
    if (entry.kind === "started") {
      const starts = this.starts.get(entry.id);
      if (starts === undefined) this.starts.set(entry.id, [entry]);
      else starts.push(entry);
    } else if (entry.kind === "settled" && entry.how === "acknowledged") this.acknowledged.add(entry.id);
    else if (entry.kind === "settled" && entry.how === "buried") this.buried.add(entry.id);
    else if (entry.kind === "health") this.health.set(entry.consumer, entry);
    this.#news.emit("entry");
  };

  of<Kind extends Entry["kind"]>(kind: Kind, where: { id?: string; consumer?: string } = {}): EntryOf<Kind>[] {
    return this.entries.filter((entry): entry is EntryOf<Kind> => {
      if (entry.kind !== kind || (where.consumer !== undefined && entry.consumer !== where.consumer)) return false;
      return where.id === undefined || ("id" in entry && entry.id === where.id);
    });
  }

  /** The nth start of a message, by this consumer if one is given. */
  start(id: string, consumer?: string, nth = 1): EntryOf<"started"> | undefined {
    return this.starts.get(id)?.filter((start) => consumer === undefined || start.consumer === consumer)[nth - 1];
  }

  isAcknowledged(...ids: readonly string[]): boolean {
    return ids.every((id) => this.acknowledged.has(id));
  }

  /** Waits until what was told makes `condition` true; fails after so many ms. */
  async until<Value>(condition: () => Value, what: string, within = 5_000): Promise<NonNullable<Value>> {
    return await new Promise((resolve, reject) => {
      const look = () => {
        const value = condition();
        if (value === undefined || value === null || value === false) return;
        end();
        resolve(value);
      };
      const end = () => {
        clearTimeout(timer);
        this.#news.off("entry", look);
      };
      const timer = setTimeout(() => {
        end();
        reject(new Error(`Not within ${Math.round(within)} ms: ${what}\nlast: ${this.#tail()}`));
      }, within);
      this.#news.on("entry", look);
      look();
    });
  }

  #tail(): string {
    return this.entries
      .slice(-12)
      .map((entry) => JSON.stringify(entry))
      .join("\n      ");
  }
}
