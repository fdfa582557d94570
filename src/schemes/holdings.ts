import type { Claimed, ClaimResult, Extension, Receipt } from "../engine.js";
import type { Member } from "./member.js";

/** A message that was taken out of Redis, and when it was due. */
export interface Taken {
  readonly member: Member;
  readonly dueAt: number;
}

/** A message that this process holds under a lease: nothing in Redis knows of it any more. */
export interface Held extends Taken {
  /** Deliveries at most, fixed for this lease. */
  readonly attempts: number;
}

/** Who took messages, in which claim, and for how long. */
export interface Holder {
  readonly consumer: string;
  readonly token: string;
  readonly leaseUntil: number;
}

/** One that is held, and until when. */
export interface Lease extends Held {
  until: number;
}

/** A message that a claim gave up, and why. */
export type GivenUp = ClaimResult["buried"][number];

/** What is left of a claim that is repeated. */
export type Again = Pick<ClaimResult, "messages" | "leaseUntil" | "buried">;

interface Claim {
  readonly consumer: string;
  readonly leaseUntil: number;
  /** What was given up and not told, since the claim failed. */
  readonly untold: readonly GivenUp[];
  readonly leases: Map<string, Lease>;
}

/** How often leases that ended are looked for, ms. */
const sweepInterval = 1_000;

/**
 * What the consumers of a queue in this process hold, for schemes that take a message out of Redis to deliver it. Leases are
 * kept here alone; one that ends is forgotten with its message, as a process that dies forgets it: such a scheme delivers at
 * most once. `takeEnded` tells which.
 */
export class Holdings {
  readonly #claims = new Map<string, Claim>();
  /**
   * The last claim of each consumer that took something. It is remembered though all of it is settled, since it may be
   * repeated.
   */
  readonly #last = new Map<string, string>();
  /** By id: the lease that was given last, as long as it is held. */
  readonly #byId = new Map<string, Lease>();
  /** Ids of messages whose leases ended unsettled, until somebody has taken them to tell them. */
  #ended: string[] = [];
  #size = 0;
  #sweptAt = -Infinity;

  /** How many messages are held. */
  get size(): number {
    return this.#size;
  }

  /** Keeps what a claim took, of which no two have one id, and what it gave up and cannot tell. */
  hold({ consumer, token, leaseUntil }: Holder, taken: readonly Held[], untold: readonly GivenUp[] = []): Claimed[] {
    if (taken.length + untold.length === 0) return [];
    const leases = new Map(taken.map((held) => [held.member.id, { ...held, until: leaseUntil }]));
    const before = this.#last.get(consumer);
    this.#claims.set(token, { consumer, leaseUntil, untold, leases });
    this.#last.set(consumer, token);
    this.#size += leases.size;
    for (const [id, lease] of leases) this.#byId.set(id, lease);
    if (before !== undefined && before !== token && this.#claims.get(before)?.leases.size === 0) {
      this.#claims.delete(before);
    }
    return taken.map(asClaimed);
  }

  /** What is left of a claim that is repeated, because its answer was lost; `undefined` when it took nothing, or is over. */
  again(token: string, now: number): Again | undefined {
    const claim = this.#claims.get(token);
    if (claim === undefined || claim.leaseUntil <= now) return undefined;
    const leases = [...claim.leases.values()].filter(({ until }) => until > now);
    return { messages: leases.map(asClaimed), leaseUntil: claim.leaseUntil, buried: claim.untold };
  }

  /** The lease on a message that is held, if there is one. */
  find(id: string, now: number): Lease | undefined {
    const lease = this.#byId.get(id);
    return lease === undefined || lease.until <= now ? undefined : lease;
  }

  /** Gives a message up for good, with its lease; `undefined` when the lease has ended. */
  end({ id, token }: Receipt, now: number): Lease | undefined {
    const claim = this.#claims.get(token);
    const lease = claim?.leases.get(id);
    if (claim === undefined || lease === undefined) return undefined;
    claim.leases.delete(id);
    this.#forget(id, lease);
    if (claim.leases.size === 0 && this.#last.get(claim.consumer) !== token) this.#claims.delete(token);
    if (lease.until > now) return lease;
    this.#ended.push(id);
    return undefined;
  }

  /** Takes back the end of a lease whose message could not be put anywhere. */
  restore({ id, token }: Receipt, lease: Lease): void {
    const claim = this.#claims.get(token) ?? {
      consumer: "",
      leaseUntil: lease.until,
      untold: [],
      leases: new Map<string, Lease>(),
    };
    this.#claims.set(token, claim);
    claim.leases.set(id, lease);
    this.#byId.set(id, lease);
    this.#size += 1;
  }

  extend({ id, token }: Receipt, now: number, lease: number): Extension {
    const held = this.#claims.get(token)?.leases.get(id);
    if (held === undefined || held.until <= now) return { outcome: "lease-lost" };
    held.until = Math.floor(now) + Math.ceil(lease);
    return { outcome: "extended", leaseUntil: held.until };
  }

  /** How many messages are held by leases that have not ended. */
  countAt(now: number): number {
    this.#sweptAt = -Infinity;
    this.sweep(now);
    return this.#size;
  }

  /** Forgets what nobody has settled in its lease. */
  sweep(now: number): void {
    // A clock that stepped back is no reason to wait until it has caught up.
    if (now >= this.#sweptAt && now < this.#sweptAt + sweepInterval) return;
    this.#sweptAt = now;
    for (const [token, { leaseUntil, leases }] of this.#claims) {
      for (const [id, lease] of leases) {
        if (lease.until > now || !leases.delete(id)) continue;
        this.#forget(id, lease);
        this.#ended.push(id);
      }
      if (leases.size === 0 && leaseUntil <= now) this.#claims.delete(token);
    }
    for (const [consumer, token] of this.#last) if (!this.#claims.has(token)) this.#last.delete(consumer);
  }

  /** The ids of messages that were forgotten unsettled since this was last asked. */
  takeEnded(): string[] {
    const ended = this.#ended;
    this.#ended = [];
    return ended;
  }

  #forget(id: string, lease: Lease): void {
    this.#size -= 1;
    if (this.#byId.get(id) === lease) this.#byId.delete(id);
  }
}

function asClaimed({ member, dueAt, attempts }: Held): Claimed {
  const { id, headers, delivered } = member;
  // A copy: whoever changes what it was given must not change what goes back to Redis.
  return { id, payload: Buffer.from(member.payload), dueAt, attempt: delivered + 1, attempts, headers };
}
