import { askInTurn } from "./ask-in-turn.js";
import { type Connection, CommandFailure, type Connector, type Reply } from "./port.js";
import { PrimaryWatch } from "./primary-watch.js";
import type { RedisAddress } from "./redis-url.js";
import { RelayedConnection } from "./relayed-connection.js";
import type { SentinelAddress } from "./sentinel-url.js";
import type { NodeAddress, ServerPlace } from "./server-place.js";
import { type Open, within } from "./within.js";

export interface SentinelOptions extends SentinelAddress {
  /** Connects to one server, sentinel or primary, with the client library. */
  readonly connectTo: (address: RedisAddress) => Connector;
  readonly nodeAddress?: NodeAddress | undefined;
}

/**
 * Connects to the primary that sentinels know. They are asked anew for each connection: what ended the last one may have been
 * a failover, and what they said before is then the address of a replica, or of nobody. While there are connections, the
 * sentinels are heard too, and when they have another primary the connections to the old one are lost.
 */
export function sentinelConnector(options: SentinelOptions): Connector {
  return new SentinelConnector(options);
}

class SentinelConnector implements Connector {
  readonly target: string;
  readonly #options: SentinelOptions;
  readonly #watch: PrimaryWatch;
  /** Those that live, and where the primary was announced that each leads to. */
  readonly #connections = new Map<RelayedConnection, ServerPlace>();
  /** A primary of which a sentinel has said that it is none any more. Others may take a while to hear of it. */
  #replaced: ServerPlace | undefined;
  /** The one that is asked first is at the front. */
  #sentinels: readonly Connector[];

  constructor(options: SentinelOptions) {
    this.#options = options;
    this.#sentinels = options.sentinels.map((address) => options.connectTo(address));
    const places = this.#sentinels.map(({ target }) => target.replace(/^.*:\/\//, ""));
    this.#watch = new PrimaryWatch({
      sentinels: this.#sentinels,
      name: options.name,
      onSwitch: (before, now) => {
        this.#replaced = before;
        this.#loseOthers(now);
      },
    });
    this.target = `the primary "${options.name}" of the sentinels ${places.join(", ")}`;
  }

  async connect(connectTimeout: number): Promise<Connection> {
    await this.#sentinels[0]?.load?.();
    return await within(connectTimeout, "no primary was found", async (open) => {
      const place = await this.#askForPrimary(open);
      try {
        const connection = await open(this.#primaryAt(place));
        await refuseReplica(connection, place);
        return connection;
      } catch (error) {
        // This sentinel may have been cut off from the others, and know less than they do.
        this.#askFirst(1);
        throw error;
      }
    });
  }

  async #askForPrimary(open: Open): Promise<ServerPlace> {
    const { name } = this.#options;
    try {
      const { answer, from } = await askInTurn({
        of: this.#sentinels,
        open,
        ask: async (sentinel) => {
          const place = announcedPlace(await sentinel.send(["SENTINEL", "GET-MASTER-ADDR-BY-NAME", name]), name);
          if (!isSame(place, this.#replaced)) return place;
          throw new CommandFailure("not-sent", `${place.host}:${place.port} was the primary, and is to be replaced`);
        },
      });
      this.#askFirst(from);
      return answer;
    } catch (error) {
      // When no sentinel knows another one, it may have become the primary again, unheard.
      this.#replaced = undefined;
      throw error;
    }
  }

  #primaryAt(place: ServerPlace): Connector {
    const { primary, connectTo, nodeAddress = (host, port) => ({ host, port }) } = this.#options;
    const { tls, ...login } = primary;
    const { host, port } = nodeAddress(place.host, place.port);
    const target = `redis${tls ? "s" : ""}://${host}:${port}`;
    const connector = connectTo({ ...login, endpoint: { host, port, tls }, target });
    return {
      target,
      connect: async (timeout) => this.#watched(await connector.connect(timeout), place),
    };
  }

  #watched(inner: Connection, place: ServerPlace): Connection {
    const connection = new RelayedConnection(inner, () => {
      this.#connections.delete(connection);
      if (this.#connections.size === 0) this.#watch.stop();
    });
    if (this.#connections.size === 0) this.#watch.start();
    this.#connections.set(connection, place);
    return connection;
  }

  #loseOthers(now: ServerPlace): void {
    for (const [connection, place] of this.#connections) {
      if (isSame(place, now)) continue;
      connection.lose(new Error(`the primary is ${now.host}:${now.port} now, by the word of a sentinel`));
    }
  }

  #askFirst(index: number): void {
    this.#sentinels = [...this.#sentinels.slice(index), ...this.#sentinels.slice(0, index)];
  }
}

function announcedPlace(reply: Reply, name: string): ServerPlace {
  if (reply === null) throw new CommandFailure("not-sent", `no primary is known by the name "${name}"`);
  const [host, port] = Array.isArray(reply) ? reply.map(String) : [];
  if (!host || !Number(port)) throw new CommandFailure("not-sent", "what answered is no sentinel");
  return { host, port: Number(port) };
}

/** While a failover goes on, sentinels still name the old primary, or a new one that does not know it yet. */
async function refuseReplica(connection: Connection, { host, port }: ServerPlace): Promise<void> {
  let role: string;
  try {
    const reply = await connection.send(["ROLE"]);
    role = Array.isArray(reply) ? String(reply[0]) : "";
  } catch (error) {
    // A user who may not ask finds out with the first write, which a replica refuses.
    if (error instanceof CommandFailure && error.code === "NOPERM") return;
    throw error;
  }
  if (role !== "master") {
    throw new CommandFailure(
      "not-sent",
      `${host}:${port}, which the sentinels name as the primary, says that it is none`,
    );
  }
}

const isSame = (one: ServerPlace, other: ServerPlace | undefined): boolean =>
  one.host === other?.host && one.port === other.port;
