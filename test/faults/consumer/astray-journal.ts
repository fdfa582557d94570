import { EventEmitter, once } from "node:events";
import type { AstrayNews } from "./astray-process.js";

/** All that several processes tell whose clocks are wrong, and waiting for it. */
export class AstrayJournal {
  readonly all: AstrayNews[] = [];
  readonly #heard = new EventEmitter();
  #end: Error | undefined;

  add(news: AstrayNews): void {
    this.all.push(news);
    this.#heard.emit("news");
  }

  /** One of them has ended and tells no more. */
  ended(name: string, how: unknown): void {
    this.#end = new Error(`the process ${name} has ended: ${String(how)}`);
    this.#heard.emit("news");
  }

  of<Kind extends AstrayNews["kind"]>(kind: Kind): Extract<AstrayNews, { readonly kind: Kind }>[] {
    return this.all.filter((news): news is Extract<AstrayNews, { readonly kind: Kind }> => news.kind === kind);
  }

  /** Waits until so many messages were acknowledged. */
  async acknowledged(count: number): Promise<void> {
    while (this.of("acknowledged").length < count) await this.more();
  }

  /** Waits until something else is told; fails when one of them has ended. */
  async more(): Promise<void> {
    if (this.#end === undefined) await once(this.#heard, "news");
    if (this.#end !== undefined) throw this.#end;
  }
}
