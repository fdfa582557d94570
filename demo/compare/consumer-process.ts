import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { stat } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { stepsIn } from "./record.js";
import type { Subject } from "./subjects.js";

/** What a consumer is to do. */
export interface ConsumerJob {
  readonly subject: Subject;
  /** Where the messages are. */
  readonly url: string;
  /** The Redis whose clock says when things are. */
  readonly clock: string;
  readonly queue: string;
  readonly concurrency: number;
  /** ms. */
  readonly lease: number;
  /** How long a handler takes, ms. */
  readonly work: number;
  /** The file in which it notes each step. */
  readonly notes: string;
}

const program = fileURLToPath(new URL("consumer.js", import.meta.url));

/** How long a consumer may take to end when it is told to, ms. */
const patience = 10_000;

/** A consumer in a process of its own. */
export class ConsumerProcess {
  readonly notes: string;
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;

  constructor(job: ConsumerJob) {
    this.notes = job.notes;
    this.#child = fork(program, [JSON.stringify(job)], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
    this.#exited = once(this.#child, "exit");
  }

  /** Resolves when it claims; rejects when it ends before that. */
  async ready(): Promise<void> {
    const ended = this.#exited.then(() => {
      throw new Error(`A consumer ended with status ${this.#child.exitCode} before it was ready.`);
    });
    await Promise.race([once(this.#child, "message"), ended]);
  }

  /** How many steps it has noted so far. */
  async steps(): Promise<number> {
    // One that has just been started has no file yet.
    const size = await stat(this.notes).then(
      (file) => file.size,
      () => 0,
    );
    return stepsIn(size);
  }

  /** Ends it as a crash would. */
  kill(): void {
    this.#child.kill("SIGKILL");
  }

  /** Ends it in good order; one that does not end in time is killed. */
  async close(): Promise<void> {
    const killer = setTimeout(() => this.kill(), patience);
    if (this.#child.connected) this.#child.send("close");
    await this.#exited;
    clearTimeout(killer);
  }
}
