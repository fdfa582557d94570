import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Found } from "./scenario.js";

/** What a measuring process is for, as its only argument. */
export interface Assignment {
  readonly subject: string;
  readonly case: string;
  readonly url: string;
}

/** Asks for one run. */
export interface Question {
  readonly scale: number;
  readonly windows: number;
}

/** What one run found, or each of its windows, or why it failed. */
export type Answer = { readonly found: readonly Found[] } | { readonly failure: string };

const program = fileURLToPath(new URL("measure.mjs", import.meta.url));

/**
 * A process for one subject and one case, so that no subject meets code that was compiled, or a heap that was filled, for
 * another. It stays from the run that warms it up to the last.
 */
export class MeasuringProcess {
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;
  readonly #assignment: Assignment;

  /** @param profile The file for a CPU profile of it. */
  constructor(assignment: Assignment, profile?: string) {
    this.#assignment = assignment;
    const profiling = profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-name=${profile}`];
    this.#child = fork(program, [JSON.stringify(assignment)], {
      execArgv: ["--expose-gc", "--enable-source-maps", ...profiling],
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    this.#exited = once(this.#child, "exit");
  }

  async measure(question: Question): Promise<readonly Found[]> {
    const { subject, case: name } = this.#assignment;
    const ended = this.#exited.then(() => {
      throw new Error(`The process that measured ${name} of ${subject} ended with ${this.#child.exitCode}.`);
    });
    const answered = once(this.#child, "message");
    this.#child.send(question);
    const [answer] = (await Promise.race([answered, ended])) as [Answer];
    if ("failure" in answer) throw new Error(`${name} of ${subject} failed: ${answer.failure}`);
    return answer.found;
  }

  /** Lets it end, in the middle of a run if need be, which then fails. */
  release(): void {
    if (this.#child.connected) this.#child.disconnect();
  }

  async close(): Promise<void> {
    this.release();
    await this.#exited;
  }
}
