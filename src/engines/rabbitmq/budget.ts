import type { Arrival } from "./arrival.js";

/** The most that one claim takes: messages, and bytes of payload but for the first one. */
const most = { messages: 1_000, bytes: 1_048_576 };

/** How much one claim may take yet. */
export class Budget {
  #left: number;
  readonly #has: (id: string) => boolean;
  readonly #ids = new Set<string>();
  #bytes = 0;

  /** `has`: whether the claim has a message of this id already. */
  constructor(limit: number, has: (id: string) => boolean) {
    this.#left = Math.min(limit, most.messages);
    this.#has = has;
  }

  /** How many more messages it may take. */
  get left(): number {
    return this.#bytes < most.bytes ? this.#left : 0;
  }

  /** Takes a message if it may. Two of one id never go to one claim: its receipts could not tell them apart. */
  takes({ id, envelope }: Arrival): boolean {
    const bytes = this.#bytes + envelope.payload.length;
    if (this.left === 0) return false;
    // Those behind it do not go before it either.
    if (this.#ids.size > 0 && bytes > most.bytes) this.#left = 0;
    if (this.left === 0) return false;
    if (this.#ids.has(id) || this.#has(id)) return false;
    this.#ids.add(id);
    this.#bytes = bytes;
    this.#left -= 1;
    return true;
  }
}
