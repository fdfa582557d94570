import { openSync, readdirSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";

/**
 * What one process did, in the order in which it did it. Times are Unix ms of this machine, on which Redis runs, too: so by
 * the clock of Redis.
 */
export type Entry = { readonly at: number; readonly id: string } & (
  | { readonly kind: "asked" }
  | { readonly kind: "told"; readonly outcome: string; readonly dueAt: number }
  | { readonly kind: "cancelling" }
  | { readonly kind: "cancelled"; readonly outcome: string }
  | { readonly kind: "started"; readonly attempt: number; readonly dueAt: number; readonly digest: string }
  /** The handler is about to end in this way. */
  | { readonly kind: "ending"; readonly attempt: number; readonly how: Ending }
  /** It is known that it did. */
  | { readonly kind: "ended"; readonly attempt: number; readonly how: Ending }
  | { readonly kind: "lost"; readonly attempt: number; readonly code: string }
  /** What should not happen, since Redis is well all the time. */
  | { readonly kind: "failed"; readonly code: string }
);

export type Ending = "acknowledged" | "retried" | "released" | "buried";

/** Entries without their time. */
export type Note = Entry extends infer E ? (E extends Entry ? Omit<E, "at"> : never) : never;

/**
 * Writes what happens to a file before anything else happens: what a process has written stays when it is killed, while what
 * it has sent to its parent may be lost in its own buffers.
 */
export class Journal {
  readonly #file: number;

  constructor(folder: string, process: string) {
    this.#file = openSync(join(folder, `${process}.jsonl`), "ax");
  }

  readonly write = (...notes: readonly Note[]): void => {
    const at = Date.now();
    writeSync(this.#file, notes.map((note) => `${JSON.stringify({ ...note, at })}\n`).join(""));
  };
}

/** All journals of a folder, by process. */
export function* readJournals(folder: string): Generator<{ readonly process: string; readonly entries: Entry[] }> {
  for (const file of readdirSync(folder)) {
    const lines = readFileSync(join(folder, file), "utf8").split("\n");
    // Behind the last end of a line there is nothing, or what was being written when the process was killed.
    lines.pop();
    yield { process: file.replace(/\.jsonl$/, ""), entries: lines.map((line) => JSON.parse(line) as Entry) };
  }
}
