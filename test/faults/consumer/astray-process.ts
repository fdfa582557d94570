import { type ChildProcess, fork } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { fileURLToPath } from "node:url";
import type { RedisEngineOptions } from "../../../src/engines/redis/engine.js";
import { bundle } from "../../support/bundle.js";

export interface AstrayOptions {
  readonly url: string;
  readonly library: RedisEngineOptions["library"];
  readonly name: string;
  /** The queue that it consumes, and the one into which it schedules. */
  readonly consumes: string;
  readonly schedules: string;
  /** How far its clock is ahead at the beginning, ms. */
  readonly ahead: number;
  /** How long it works on a message that says "hold", ms. */
  readonly holds: number;
}

export type AstrayOrder =
  | { readonly kind: "step"; readonly ahead: number }
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

  constructor(program: string, options: AstrayOptions, hear: (news: AstrayNews) => void) {
    this.#child = fork(program, [JSON.stringify(options)], {
      execArgv: [],
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    this.#child.on("message", (news) => hear(news as AstrayNews));
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

/** All that several of them tell, and waiting for it. */
export class AstrayJournal {
  readonly all: AstrayNews[] = [];
  readonly #heard = new EventEmitter();

  readonly add = (news: AstrayNews): void => {
    this.all.push(news);
    this.#heard.emit("news");
  };

  of<Kind extends AstrayNews["kind"]>(kind: Kind): Extract<AstrayNews, { readonly kind: Kind }>[] {
    return this.all.filter((news): news is Extract<AstrayNews, { readonly kind: Kind }> => news.kind === kind);
  }

  /** Waits until so many messages were acknowledged. */
  async acknowledged(count: number): Promise<void> {
    while (this.of("acknowledged").length < count) await this.more();
  }

  /** Waits until something else is told. */
  async more(): Promise<void> {
    await once(this.#heard, "news");
  }
}
