import type { CommandArgument, Reply } from "../../clients/port.js";
import type { Watcher } from "../../engine.js";
import { PunctualError } from "../../errors.js";
import { asNumber } from "../../scripting/reply.js";
import type { SchemeContext } from "../../schemes/scheme-queue.js";
import type { Look } from "./line-keys.js";

/**
 * How long one blocks on the list, ms. The connection's watchdog takes a server that is silent for 2 s to be dead, and Redis
 * ends a blocked call up to 100 ms late.
 */
export const longestWait = 500;

/** How long after the one on duty a deputy looks, ms: as in snippets/wake.lua. */
const lag = 50;

/**
 * Blocking on the list of a queue, on a connection of its own. Only where it pays: a consumer waits there when another one is on
 * duty for what comes due within the time that it may block, and will put that into the list. Whoever is on duty does not
 * block, since Redis ends blocked calls late; and nobody blocks for what is far, since that would cost a command a second.
 */
export class ListWait {
  readonly #context: SchemeContext;
  #connection: ReturnType<SchemeContext["connect"]> | undefined;
  /** Who waits, one at a time: a call that blocks keeps its connection from all others. */
  #waiter: { readonly consumer: string; client: number | undefined; released: boolean } | undefined;

  /** Redis has answered what the connection is called, so it may be asked together with what blocks. */
  #mayAsk = false;
  /** Redis refused one of the commands: this program has no right to them, so it goes on without blocking. */
  #refused = false;

  constructor(context: SchemeContext) {
    this.#context = context;
  }

  /** Whether a consumer that got nothing does well to block on the list. */
  pays({ now, nextAt, headAt }: Look): boolean {
    if (this.#refused || this.#waiter !== undefined || headAt === undefined) return false;
    return headAt <= now + longestWait && nextAt > headAt + lag;
  }

  /** Sends commands of which the last one blocks; gives the reply of that one, or nothing when it is not this one's turn. */
  async wait(consumer: string, commands: readonly (readonly CommandArgument[])[]): Promise<Reply> {
    if (this.#waiter !== undefined) return null;
    const waiter = { consumer, client: undefined as number | undefined, released: false };
    this.#waiter = waiter;
    this.#connection ??= this.#context.connect();
    try {
      return await this.#connection.run(async (send) => {
        // A call that blocks and cannot be let go keeps its consumer from what it is woken for.
        if (!this.#mayAsk) await send("CLIENT", "ID");
        this.#mayAsk = true;
        // In one write, so that the number of the connection is known before it blocks.
        const answers = [["CLIENT", "ID"], ...commands].map((command) => send(...command));
        for (const answer of answers) answer.catch(() => {});
        waiter.client = asNumber(await answers[0], "CLIENT ID");
        if (waiter.released) this.#unblock(waiter.client);
        return (await Promise.all(answers)).at(-1) ?? null;
      });
    } catch (error) {
      if (!(error instanceof PunctualError) || error.code !== "misconfigured") throw error;
      this.#refused = true;
      return null;
    } finally {
      this.#waiter = undefined;
    }
  }

  /** Ends the wait of a consumer that is to do something else. */
  release(consumer: string): void {
    const waiter = this.#waiter;
    if (waiter?.consumer !== consumer || waiter.released) return;
    waiter.released = true;
    if (waiter.client !== undefined) this.#unblock(waiter.client);
  }

  /** What a consumer hears ends its wait. */
  releasing(consumer: string, watcher: Watcher): Watcher {
    return {
      wake: (at) => {
        this.release(consumer);
        watcher.wake(at);
      },
      postpone: (at) => watcher.postpone(at),
      interrupted: (cause) => watcher.interrupted(cause),
      recovered: () => watcher.recovered(),
    };
  }

  #unblock(client: number): void {
    // Where it may not, or the connection is lost, the wait ends by itself.
    this.#context.work
      .run((send) => send("CLIENT", "UNBLOCK", String(client)))
      .catch((error: unknown) => {
        if (!(error instanceof PunctualError)) throw error;
      });
  }
}
