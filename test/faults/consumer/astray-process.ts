import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { RedisEngineOptions } from "../../../src/engines/redis/engine.js";
import { bundle } from "../../support/bundle.js";
import type { AstrayJournal } from "./astray-journal.js";

export interface AstrayOptions {
  readonly url: string;
  readonly library: RedisEngineOptions["library"];
  readonly name: string;
  /** The queue that it consumes, and the one into which it schedules. */
  readonly consumes: string;
  readonly schedules: string;
  /** How far its clock is ahead at the beginning, ms. */
  readonly ahead: number;
  /** ms. */
  readonly lease: number;
  /** How long it works on a message that says "hold", ms. */
  readonly holds: number;
}

export type AstrayOrder =
  /** Its clock jumps ahead by so much, ms, or back. */
  | { readonly kind: "step"; readonly by: number }
  | { readonly kind: "schedule"; readonly id: string; readonly delay: number; readonly payload: "hold" | "return" }
  | { readonly kind: "close" };

/** What it tells. `at`, `earliest` and `latest` are by the clock of the machine, `wall` by its own; Unix ms. */
export type AstrayNews = { readonly name: string; readonly id: string } & (
  | { readonly kind: "scheduled"; readonly earliest: number; readonly dueAt: number; readonly latest: number }
  | {
      readonly kind: "started";
      readonly attempt: number;
      readonly dueAt: number;
      readonly lateness: number;
      readonly at: number;
      readonly wall: number;
    }
  | { readonly kind: "acknowledged" | "lost" }
);

/** Builds the program of these processes. */
export const astrayProgram = () => bundle(fileURLToPath(new URL("programs/astray.ts", import.meta.url)));

/** A process whose clock is wrong. */
export class AstrayProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;

  constructor(program: string, options: AstrayOptions, journal: AstrayJournal) {
    this.#child = fork(program, [JSON.stringify(options)], {
      execArgv: [],
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    this.#child.on("message", (news) => journal.add(news as AstrayNews));
    this.#child.once("exit", (status, signal) => journal.ended(options.name, status ?? signal));
    this.#exited = once(this.#child, "exit");
  }

  tell(order: AstrayOrder): void {
    this.#child.send(order);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.connected) this.tell({ kind: "close" });
    await this.#exited;
  }
}
