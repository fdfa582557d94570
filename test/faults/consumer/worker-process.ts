import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { bundle } from "../../support/bundle.js";
import type { Entry } from "./history.js";
import type { RecordedOptions, Subject } from "./recorded-consumer.js";

/** Builds the program of the workers. */
export const workerProgram = () => bundle(fileURLToPath(new URL("programs/worker.ts", import.meta.url)));

/** A consumer in a process of its own. */
export class WorkerProcess implements Subject {
  readonly name: string;
  readonly concurrency: number;
  readonly exited: Promise<unknown>;
  readonly #child: ChildProcess;

  constructor(
    program: string,
    options: RecordedOptions & { url: string; queue: string },
    write: (entry: Entry) => void,
  ) {
    this.name = options.name;
    this.concurrency = options.concurrency ?? 20;
    this.#child = fork(program, [JSON.stringify(options)], {
      execArgv: [],
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    this.#child.on("message", (entry) => write(entry as Entry));
    this.exited = once(this.#child, "exit");
  }

  letGo(): void {
    this.#child.send("let go");
  }

  /** Closes its consumer, which waits 100 ms for what is at work, and ends. */
  async close(): Promise<void> {
    this.#child.send("close");
    await this.exited;
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.exited;
  }

  pause(): void {
    this.#child.kill("SIGSTOP");
  }

  continue(): void {
    this.#child.kill("SIGCONT");
  }
}
