import type { Claimed, Extension, Receipt } from "../engine.js";
import type { Member } from "./member.js";

/** A message that this process took: nothing in Redis knows of it any more. */
export interface Held {
  readonly member: Member;
  /** When it was due. */
  readonly dueAt: number;
  /** Deliveries at most, fixed for this lease. */
  readonly attempts: number;
  leaseUntil: number;
}

/** How often leases that ended are looked for, ms. */
const sweepInterval = 1_000;

/**
 * What the consumers of a queue in this process hold, for schemes that take a message out of Redis to deliver it. Leases are
 * kept here alone; one that ends is forgotten with its message, as a process that dies forgets it: such a scheme delivers at
 * most once.
 */
export class Holdings {
  readonly #held = new Map<string, Held>();
  #sweptAt = 0;

  /** How many messages are held. */
  get size(): number {
    return this.#held.size;
  }

  /** Whether a message with this id is held under this token. */
  has(token: string, id: string): boolean {
    return this.#held.has(nameOf(token, id));
  }

  hold(token: string, held: Held): Claimed {
    const { member, dueAt, attempts } = held;
    const { id, payload, headers } = member;
    this.#held.set(nameOf(token, id), held);
    return { id, payload, dueAt, attempt: member.delivered + 1, attempts, headers };
  }

  /** Gives a message up for good, with its lease; `undefined` when the lease has ended. */
  end({ id, token }: Receipt, now: number): Held | undefined {
    const name = nameOf(token, id);
    const held = this.#held.get(name);
    this.#held.delete(name);
    return held === undefined || held.leaseUntil <= now ? undefined : held;
  }

  extend({ id, token }: Receipt, now: number, lease: number): Extension {
    const held = this.#held.get(nameOf(token, id));
    if (held === undefined || held.leaseUntil <= now) return { outcome: "lease-lost" };
    held.leaseUntil = Math.floor(now) + Math.ceil(lease);
    return { outcome: "extended", leaseUntil: held.leaseUntil };
  }

  /** Forgets what nobody has settled in its lease. */
  sweep(now: number): void {
    if (now < this.#sweptAt + sweepInterval) return;
    this.#sweptAt = now;
    for (const [name, { leaseUntil }] of this.#held) if (leaseUntil <= now) this.#held.delete(name);
  }
}

/** A token holds no NUL: it is made by consumers, an id may hold anything. */
function nameOf(token: string, id: string): string {
  return `${token}\0${id}`;
}
