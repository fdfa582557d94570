import { pageSize } from "./scripts/take.js";

/** Ids that are kept at most. What is heard beyond that is found by a sweep. */
const mostHeard = 10_000;

/**
 * What a process is to ask for: ids that it has heard of, and those that a sweep comes to. A sweep reads the ids of all that
 * wait, since an event that nobody heard does not come again.
 */
export class Inbox {
  readonly #heard = new Set<string>();
  /** Ids that a sweep has read, and nobody has asked for. */
  #read: string[] = [];
  /** Where the sweep reads on; `undefined` when it has read all. */
  #cursor: string | undefined;
  /** Whether what the sweep finds is waited for. One that only makes sure goes on when somebody polls. */
  #urgent = false;
  /** Something was missed that the sweep may have passed. */
  #again = false;

  /** Nothing can be taken, so there is nothing to hurry for. */
  paused = false;

  /** Notes ids that are due, or may be. */
  hear(ids: Iterable<string>): void {
    for (const id of ids) {
      if (this.#heard.size < mostHeard) this.#heard.add(id);
      else this.#again = true;
    }
  }

  /** Something was missed: there is to be a sweep from the beginning. */
  missed(): void {
    this.paused = false;
    this.#again = true;
    this.#begin();
  }

  /** Has a sweep begin, unless there is one. */
  sweep(urgent: boolean): void {
    this.#urgent = urgent || (this.sweeping && this.#urgent);
    if (!this.sweeping) this.#cursor = "0";
  }

  get sweeping(): boolean {
    return this.#cursor !== undefined || this.#read.length > 0;
  }

  /** Whether there is more to ask for now. */
  get behind(): boolean {
    this.#begin();
    if (this.paused) return false;
    return this.#heard.size > 0 || (this.#urgent && this.sweeping);
  }

  /**
   * Ids to ask for next, each once; who could not ask for them gives them back. A few more than there is room for, since others
   * may have been faster; all of them where they are few, so that the earliest come first.
   */
  draw(room: number): string[] {
    const waiting = this.#heard.size + this.#read.length;
    const most = waiting <= pageSize ? pageSize : Math.min(2 * room + 30, pageSize);
    const ids = new Set<string>();
    for (const id of this.#heard) {
      if (ids.size === most) break;
      this.#heard.delete(id);
      ids.add(id);
    }
    for (const id of this.#read.splice(0, most - ids.size)) ids.add(id);
    return [...ids];
  }

  /** Where a sweep reads on, if it is to: not while there is enough to ask for. */
  get cursor(): string | undefined {
    return this.#read.length < pageSize && this.#heard.size < mostHeard ? this.#cursor : undefined;
  }

  /** Learns what was read at `at`. Of two that read there at the same time only the first counts. */
  learn(at: string, cursor: string, page: readonly string[]): void {
    if (this.#cursor !== at) return;
    this.#cursor = cursor === "0" ? undefined : cursor;
    this.#read.push(...page);
  }

  clear(): void {
    this.#heard.clear();
    this.#read = [];
    this.#cursor = undefined;
    this.#urgent = this.#again = this.paused = false;
  }

  /**
   * Begins anew what has to be. A sweep that is waited for ends first, or the ids would come twice; one that only makes sure is
   * given up for it, since what was missed would wait for it for 5 s a page.
   */
  #begin(): void {
    if (!this.#again || (this.sweeping && this.#urgent) || this.#heard.size >= mostHeard) return;
    this.#again = false;
    this.#cursor = "0";
    this.#urgent = true;
  }
}
