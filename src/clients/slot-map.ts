import { CommandFailure, type Reply } from "./port.js";
import type { ServerPlace } from "./server-place.js";

interface SlotRange {
  readonly first: number;
  readonly last: number;
  readonly primary: ServerPlace;
}

/** Which node of a Cluster serves which slot, as one of its nodes has told it. */
export class SlotMap {
  readonly #ranges: readonly SlotRange[];

  /**
   * Reads the reply to CLUSTER SLOTS.
   * @param asked The host that was asked: a node that does not know its own address leaves it out.
   */
  static from(reply: Reply, asked: string): SlotMap {
    const ranges = asList(reply).map((range) => {
      const [first, last, primary] = asList(range);
      const [host, port] = asList(primary ?? null);
      return { first: Number(first), last: Number(last), primary: placeOf(String(host ?? ""), Number(port), asked) };
    });
    return new SlotMap(ranges);
  }

  private constructor(ranges: readonly SlotRange[]) {
    this.#ranges = ranges;
  }

  /** The node that serves a slot; undefined when none does. */
  primaryOf(slot: number): ServerPlace | undefined {
    return this.#ranges.find(({ first, last }) => first <= slot && slot <= last)?.primary;
  }

  /** All primaries, each once. */
  get primaries(): ServerPlace[] {
    const places = this.#ranges.map(({ primary }) => primary);
    return [...new Map(places.map((place) => [`${place.host} ${place.port}`, place])).values()];
  }
}

/** Reads `MOVED <slot> <host>:<port>`. The host is empty when it is the one that was asked. */
export function movedTo(message: string, asked: string): { slot: number; primary: ServerPlace } | undefined {
  // An IPv6 address has colons of its own.
  const [, slot, host = "", port] = /^MOVED (\d+) (.*):(\d+)$/.exec(message) ?? [];
  return slot === undefined ? undefined : { slot: Number(slot), primary: placeOf(host, Number(port), asked) };
}

/** A node that was told to announce a name and has none says "?". */
function placeOf(host: string, port: number, asked: string): ServerPlace {
  return { host: host === "" || host === "?" ? asked : host, port };
}

function asList(reply: Reply): Reply[] {
  if (!Array.isArray(reply)) throw new CommandFailure("not-sent", "a map of slots that is none");
  return reply;
}
