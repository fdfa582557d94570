import { PunctualError } from "../errors.js";
import { askInTurn } from "./ask-in-turn.js";
import { ClusterConnection } from "./cluster-connection.js";
import { hashSlot } from "./hash-slot.js";
import { CommandFailure, type Connection, type Connector, type Reply } from "./port.js";
import type { RedisAddress } from "./redis-url.js";
import type { NodeAddress, ServerPlace } from "./server-place.js";
import { movedTo, SlotMap } from "./slot-map.js";
import { within } from "./within.js";

export interface ClusterOptions {
  /** Some nodes; the others are learned from them. Login and TLS of the first are those of all that are learned. */
  readonly nodes: readonly [RedisAddress, ...RedisAddress[]];
  /** Connects to one node with the client library. */
  readonly connectTo: (address: RedisAddress) => Connector;
  readonly nodeAddress?: NodeAddress | undefined;
}

/**
 * Connects to the nodes of a Redis Cluster. All keys of a queue share one slot, so a queue needs one node at a time: `forKey`
 * connects to the node that serves a key. Which one that is, is learned from any node that answers, and anew when a connection
 * was lost or could not be made; what is known is shared by all.
 */
export function clusterConnector(options: ClusterOptions): Connector {
  return new Cluster(options);
}

/** Where a connection was made to, and by which map. */
interface Known {
  readonly slot: number;
  readonly place: ServerPlace;
  readonly map: SlotMap;
}

class Cluster implements Connector {
  readonly target: string;
  readonly #options: ClusterOptions;
  /** The one that is asked first is at the front. */
  #seeds: readonly RedisAddress[];
  #map: SlotMap | undefined;
  /** What nodes have said by MOVED, by slot. It is newer than any map: who is asked for one may not have heard of it yet. */
  readonly #moved = new Map<number, ServerPlace>();
  #learning: Promise<SlotMap> | undefined;

  constructor(options: ClusterOptions) {
    this.#options = options;
    this.#seeds = options.nodes;
    this.target = `the Cluster of ${options.nodes.map(({ target }) => target).join(", ")}`;
  }

  async connect(): Promise<Connection> {
    throw new PunctualError(
      "misconfigured",
      `This engine keeps its queues on one server and cannot use ${this.target}: give it the URL of a single Redis. The redis engine can use a Cluster.`,
    );
  }

  forKey(key: string): Connector {
    const slot = hashSlot(key);
    return { target: this.target, shardedChannels: true, connect: (timeout) => this.#connectTo(key, slot, timeout) };
  }

  async #connectTo(key: string, slot: number, timeout: number): Promise<Connection> {
    await this.#options.connectTo(this.#options.nodes[0]).load?.();
    return await within(timeout, `the node that serves slot ${slot} did not answer`, async (open) => {
      const map = this.#map ?? (await this.#learn(timeout));
      const place = this.#moved.get(slot) ?? map.primaryOf(slot);
      if (place === undefined) {
        this.#forget(map);
        throw new CommandFailure("not-sent", `no node serves slot ${slot}`);
      }
      const known: Known = { slot, place, map };
      try {
        const connection = await open(this.#nodeAt(known));
        await refuseStranger(connection, key);
        return connection;
      } catch (error) {
        // It may be that another node has taken over.
        if (!(error instanceof CommandFailure && error.code === "ELSEWHERE")) this.#doubt(known);
        throw error;
      }
    });
  }

  #nodeAt(known: Known): Connector {
    const node = this.#options.connectTo(this.#addressOf(known.place));
    const news = {
      onElsewhere: (failure: CommandFailure) => this.#hear(failure, known),
      onGone: () => this.#doubt(known),
    };
    return {
      target: node.target,
      connect: async (timeout) => new ClusterConnection(await node.connect(timeout), news),
    };
  }

  /** One question for all that wait for the answer. */
  #learn(timeout: number): Promise<SlotMap> {
    this.#learning ??= this.#ask(timeout)
      .then((map) => (this.#map = map))
      .finally(() => (this.#learning = undefined));
    return this.#learning;
  }

  #ask(timeout: number): Promise<SlotMap> {
    const asked = this.#seeds;
    return within(timeout, "no node of the Cluster answered", async (open) => {
      const { answer, from } = await askInTurn({
        of: asked.map((address) => this.#options.connectTo(address)),
        open,
        ask: async (node, index) => SlotMap.from(await slotsOf(node), hostOf(asked[index])),
      });
      // Whoever answered is asked first, and then the primaries that it knows.
      const others = [...answer.primaries.map((place) => this.#addressOf(place)), ...this.#options.nodes];
      const byTarget = new Map(
        [asked[from], ...others].flatMap((one) => (one === undefined ? [] : [[one.target, one]])),
      );
      this.#seeds = [...byTarget.values()];
      return answer;
    });
  }

  #hear({ code, message }: CommandFailure, known: Known): void {
    const moved = code === "MOVED" ? movedTo(message, known.place.host) : undefined;
    if (moved === undefined) this.#doubt(known);
    else this.#moved.set(moved.slot, moved.primary);
  }

  /**
   * A node is gone, or is of no use. Where something was learned of the slot since, that is where to go, and not to be
   * asked for.
   */
  #doubt({ slot, place, map }: Known): void {
    const moved = this.#moved.get(slot);
    if (moved !== undefined && !isSamePlace(moved, place)) return;
    this.#moved.delete(slot);
    this.#forget(map);
  }

  /** What is known is asked for anew, and somebody else first: who was asked last may know no better now. */
  #forget(map: SlotMap | undefined): void {
    if (map === undefined || this.#map !== map) return;
    this.#map = undefined;
    this.#seeds = [...this.#seeds.slice(1), ...this.#seeds.slice(0, 1)];
  }

  #addressOf(place: ServerPlace): RedisAddress {
    const { nodes, nodeAddress = (host, port) => ({ host, port }) } = this.#options;
    const { host, port } = nodeAddress(place.host, place.port);
    const tls = "tls" in nodes[0].endpoint && nodes[0].endpoint.tls;
    return { ...nodes[0], endpoint: { host, port, tls }, target: `redis${tls ? "s" : ""}://${host}:${port}` };
  }
}

/** What a node answers that does not serve the slot, or not yet. */
const unfit = new Set(["ELSEWHERE", "LOADING", "MASTERDOWN"]);

/**
 * Sees to it that the node serves the key. What is known of the Cluster may be old, and a node that has lost its Cluster takes
 * connections all the same; then the queue is out of reach, and is not to be told as back.
 */
async function refuseStranger(connection: Connection, key: string): Promise<void> {
  try {
    // Of the commands that every script needs, so it takes no right of its own.
    await connection.send(["HMGET", key, "v"]);
  } catch (error) {
    if (!(error instanceof CommandFailure) || error.outcome !== "refused" || unfit.has(error.code)) throw error;
  }
}

async function slotsOf(node: Connection): Promise<Reply> {
  try {
    return await node.send(["CLUSTER", "SLOTS"]);
  } catch (error) {
    if (error instanceof CommandFailure && /cluster support disabled/i.test(error.message)) {
      throw new PunctualError(
        "misconfigured",
        "nodes names a Redis that is no node of a Cluster (cluster-enabled no): give its URL as url instead.",
        { cause: error },
      );
    }
    throw error;
  }
}

const isSamePlace = (one: ServerPlace, other: ServerPlace): boolean =>
  one.host === other.host && one.port === other.port;

const hostOf = (address: RedisAddress | undefined): string =>
  address !== undefined && "host" in address.endpoint ? address.endpoint.host : "";
