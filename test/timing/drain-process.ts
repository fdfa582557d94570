import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { bundle } from "../support/bundle.js";

export interface DrainTask {
  readonly url: string;
  readonly queue: string;
  /** How many there are. */
  readonly messages: number;
}

export interface DrainReport {
  readonly delivered: number;
  readonly distinct: number;
}

/** A process that consumes a queue until it is empty, so that this one has time to measure. */
export class DrainProcess implements AsyncDisposable {
  /** Rejects when it ends without one. */
  readonly report: Promise<DrainReport>;
  readonly #program: Awaited<ReturnType<typeof bundle>>;
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown[]>;

  private constructor(program: Awaited<ReturnType<typeof bundle>>, task: DrainTask) {
    this.#program = program;
    this.#child = fork(program.path, [JSON.stringify(task)], {
      execArgv: [],
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    this.#exited = once(this.#child, "exit");
    const reported = once(this.#child, "message").then(([report]) => report as DrainReport);
    const died = this.#exited.then(([status, signal]) => {
      throw new Error(`the process that drains ${task.queue} ended without a report: ${String(status ?? signal)}`);
    });
    this.report = Promise.race([reported, died]);
    // Who has failed before asks no more.
    this.report.catch(() => {});
  }

  static async start(task: DrainTask): Promise<DrainProcess> {
    return new DrainProcess(await bundle(fileURLToPath(new URL("programs/drain.ts", import.meta.url))), task);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#exited;
    await this.#program[Symbol.asyncDispose]();
  }
}
