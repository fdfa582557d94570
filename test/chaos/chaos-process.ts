import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";

/** What a child process is told at its start. */
export interface ProcessOptions {
  /** Never used before in this run. */
  readonly name: string;
  readonly url: string;
  readonly queue: string;
  /** Where it keeps its journal. */
  readonly folder: string;
  readonly seed: number;
  /** How many there are in the run. */
  readonly messages: number;
}

/** Numbers of messages for one producer, from `first` up to, but not including, `end`. */
export interface Share {
  readonly first: number;
  readonly end: number;
}

export interface ProcessListener {
  /** A producer has done a share. */
  onDone(): void;
  /** It was killed or ended by itself. */
  onEnd(ended: ChaosProcess): void;
}

/** A producer or consumer that can be killed at any moment. */
export class ChaosProcess {
  readonly name: string;
  readonly exited: Promise<unknown>;
  /** Shares that this producer has and has not said it has done. */
  readonly shares = new Map<number, Share>();
  /** It ended by itself, though nobody asked for it. */
  failed = false;
  readonly #child: ChildProcess;
  #wanted = false;

  constructor(program: string, options: ProcessOptions, { onDone, onEnd }: ProcessListener) {
    this.name = options.name;
    this.#child = fork(program, [JSON.stringify(options)], {
      execArgv: [],
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    this.#child.on("message", (share) => {
      this.shares.delete((share as Share).first);
      onDone();
    });
    // What is sent to one that has just been killed; its share goes to another one.
    this.#child.on("error", () => {});
    this.exited = once(this.#child, "exit").then(() => {
      this.failed = !this.#wanted;
      onEnd(this);
    });
  }

  /** Has it done; it says so by taking it from `shares`. */
  give(share: Share): void {
    this.shares.set(share.first, share);
    this.#child.send(share, () => {});
  }

  async kill(): Promise<void> {
    this.#wanted = true;
    this.#child.kill("SIGKILL");
    await this.exited;
  }

  /** Ends it in good order. */
  async close(): Promise<void> {
    this.#wanted = true;
    this.#child.send("close", () => {});
    await this.exited;
  }
}
