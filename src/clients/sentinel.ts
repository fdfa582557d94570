import { askInTurn } from "./ask-in-turn.js";
import { type Connection, CommandFailure, type Connector, type Reply } from "./port.js";
import type { RedisAddress } from "./redis-url.js";
import type { SentinelAddress } from "./sentinel-url.js";
import { type Open, within } from "./within.js";

export interface SentinelOptions extends SentinelAddress {
  /** Connects to one server, sentinel or primary, with the client library. */
  readonly connectTo: (address: RedisAddress) => Connector;
  /** Where to reach a server that is announced at an address that is none from here. */
  readonly nodeAddress?: ((host: string, port: number) => { host: string; port: number }) | undefined;
}

/**
 * Connects to the primary that sentinels know. They are asked anew for each connection: what ended the last one may have been
 * a failover, and what they said before is then the address of a replica, or of nobody.
 */
export function sentinelConnector(options: SentinelOptions): Connector {
  return new SentinelConnector(options);
}

class SentinelConnector implements Connector {
  readonly target: string;
  readonly #options: SentinelOptions;
  /** The one that is asked first is at the front. */
  #sentinels: readonly Connector[];

  constructor(options: SentinelOptions) {
    this.#options = options;
    this.#sentinels = options.sentinels.map((address) => options.connectTo(address));
    const places = this.#sentinels.map(({ target }) => target.replace(/^.*:\/\//, ""));
    this.target = `the primary "${options.name}" of the sentinels ${places.join(", ")}`;
  }

  connect(connectTimeout: number): Promise<Connection> {
    return within(connectTimeout, "no primary was found", async (open) => {
      const address = await this.#askForPrimary(open);
      try {
        const connection = await open(this.#options.connectTo(address));
        await refuseReplica(connection, address.target);
        return connection;
      } catch (error) {
        // This sentinel may have been cut off from the others, and know less than they do.
        this.#askFirst(1);
        throw error;
      }
    });
  }

  async #askForPrimary(open: Open): Promise<RedisAddress> {
    const { name, primary, nodeAddress = (host, port) => ({ host, port }) } = this.#options;
    const { answer, from } = await askInTurn({
      of: this.#sentinels,
      open,
      ask: async (sentinel) =>
        announcedAddress(await sentinel.send(["SENTINEL", "GET-MASTER-ADDR-BY-NAME", name]), name),
    });
    this.#askFirst(from);
    const { tls, ...login } = primary;
    const { host, port } = nodeAddress(answer.host, answer.port);
    return { ...login, endpoint: { host, port, tls }, target: `redis${tls ? "s" : ""}://${host}:${port}` };
  }

  #askFirst(index: number): void {
    this.#sentinels = [...this.#sentinels.slice(index), ...this.#sentinels.slice(0, index)];
  }
}

function announcedAddress(reply: Reply, name: string): { host: string; port: number } {
  if (reply === null) throw new CommandFailure("not-sent", `no primary is known by the name "${name}"`);
  const [host, port] = Array.isArray(reply) ? reply.map(String) : [];
  if (!host || !Number(port)) throw new CommandFailure("not-sent", "what answered is no sentinel");
  return { host, port: Number(port) };
}

/** While a failover goes on, sentinels still name the old primary, or a new one that does not know it yet. */
async function refuseReplica(connection: Connection, target: string): Promise<void> {
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
    throw new CommandFailure("not-sent", `the server that is to be the primary (${target}) says that it is none`);
  }
}
