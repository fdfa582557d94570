import type { Random } from "../../demo/seeded-random.js";
import { ChaosProcess, type ProcessOptions, type Share } from "./chaos-process.js";

/** Where the programs of the processes lie, built. */
export interface Programs {
  readonly producer: string;
  readonly consumer: string;
}

/**
 * Shares that a producer has at a time at most. When it is killed they are done again from the beginning: were there no bound,
 * a slow machine would do nothing else.
 */
const mostShares = 30;

type Role = keyof Programs;

/** The producers and consumers of a run: as many at any time, though they are killed. */
export class Fleet implements AsyncDisposable {
  /** Names of processes that were killed. */
  readonly killed = new Set<string>();
  /** Names of processes that ended by themselves. */
  readonly failed: string[] = [];
  readonly #programs: Programs;
  readonly #options: Omit<ProcessOptions, "name">;
  readonly #places: { readonly role: Role; process: ChaosProcess }[];
  /** Shares that no producer has. */
  readonly #waiting: Share[] = [];
  #started = 0;
  #closing = false;

  constructor(programs: Programs, roles: readonly Role[], options: Omit<ProcessOptions, "name">) {
    this.#programs = programs;
    this.#options = options;
    this.#places = roles.map((role) => ({ role, process: this.#start(role) }));
  }

  /** How many shares are not done. */
  get sharesLeft(): number {
    return this.#waiting.length + this.#places.reduce((sum, { process }) => sum + process.shares.size, 0);
  }

  /** Has a share done by one of the producers. */
  produce(share: Share): void {
    this.#waiting.push(share);
    this.#handOut();
  }

  /** Kills one at random, and lets another one take its place. */
  async killOne(random: Random): Promise<void> {
    const place = this.#places[Math.floor(random() * this.#places.length)];
    if (place === undefined) return;
    this.killed.add(place.process.name);
    await place.process.kill();
  }

  /** Ends all in good order. */
  async close(): Promise<void> {
    this.#closing = true;
    const consumers = this.#places.filter(({ role }) => role === "consumer");
    await Promise.all(consumers.map(({ process }) => process.close()));
    await this[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing = true;
    await Promise.all(this.#places.map(({ process }) => process.kill()));
  }

  #start(role: Role): ChaosProcess {
    const name = `${role}-${++this.#started}`;
    return new ChaosProcess(
      this.#programs[role],
      { ...this.#options, name },
      {
        onDone: () => this.#handOut(),
        onEnd: (ended) => this.#replace(ended),
      },
    );
  }

  #replace(ended: ChaosProcess): void {
    if (this.#closing) return;
    if (ended.failed) this.failed.push(ended.name);
    const place = this.#places.find(({ process }) => process === ended);
    if (place === undefined) return;
    place.process = this.#start(place.role);
    this.#waiting.unshift(...ended.shares.values());
    this.#handOut();
  }

  /** Gives what waits to the producers that have the least to do. */
  #handOut(): void {
    const producers = this.#places.filter(({ role }) => role === "producer").map(({ process }) => process);
    for (;;) {
      const [idlest] = producers.toSorted((one, other) => one.shares.size - other.shares.size);
      if (idlest === undefined || idlest.shares.size >= mostShares) return;
      const share = this.#waiting.shift();
      if (share === undefined) return;
      idlest.give(share);
    }
  }
}
