import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { RedisEngineOptions } from "../../../src/engines/redis/engine.js";
import { bundle } from "../../support/bundle.js";

export interface DoomedOptions {
  readonly url: string;
  readonly library: RedisEngineOptions["library"];
  readonly queue: string;
  /** What ends it: its handler calls process.exit(3), or leaves a promise behind that rejects. */
  readonly end: "exit" | "unhandled";
}

/** Builds the program of these processes. */
export const doomedProgram = () => bundle(fileURLToPath(new URL("programs/doomed.ts", import.meta.url)));

/** A consumer that is going to be ended by its handler, and not by anything from outside. */
export class DoomedProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown[]>;

  constructor(program: string, options: DoomedOptions) {
    // What Node says of its end is no news here.
    this.#child = fork(program, [JSON.stringify(options)], {
      execArgv: [],
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    this.#exited = once(this.#child, "exit");
  }

  /** Waits until it has all of these in hand. */
  async has(...ids: readonly string[]): Promise<void> {
    const missing = new Set(ids);
    while (missing.size > 0) {
      const [id]: unknown[] = await once(this.#child, "message");
      missing.delete(String(id));
    }
  }

  /** Lets its handlers go on; gives its exit status. */
  async meetsItsEnd(): Promise<unknown> {
    this.#child.send("go on");
    return (await this.#exited)[0];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#exited;
  }
}
