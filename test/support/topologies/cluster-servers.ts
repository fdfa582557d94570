import { bringBack } from "./bring-back.js";
import { type ClusterNode, type ClusterNodeOptions, startClusterNode } from "./cluster-node.js";
import { eventually } from "./eventually.js";

const slots = 16_384;

export interface ClusterServersOptions extends ClusterNodeOptions {
  /** Whether each of the three primaries has a replica. Default false. */
  readonly replicas?: boolean | undefined;
}

/** A private Redis Cluster of three primaries, with a replica each or alone. A failover takes one to two seconds. */
export class ClusterServers implements AsyncDisposable {
  readonly nodes: readonly ClusterNode[];

  static async start({ replicas = false, ...options }: ClusterServersOptions = {}): Promise<ClusterServers> {
    const nodes = await Promise.all(Array.from({ length: replicas ? 6 : 3 }, () => startClusterNode(options)));
    const cluster = new ClusterServers(nodes);
    const primaries = nodes.slice(0, 3);
    const [first] = primaries;
    await Promise.all(
      primaries.map(({ ask }, i) =>
        ask("CLUSTER", "ADDSLOTSRANGE", Math.floor((slots * i) / 3), Math.floor((slots * (i + 1)) / 3) - 1),
      ),
    );
    // Of two nodes with one epoch, one would have to find out about it first.
    await Promise.all(nodes.map(({ ask }, i) => ask("CLUSTER", "SET-CONFIG-EPOCH", i + 1)));
    for (const { server, busPort } of nodes.slice(1)) {
      await first?.ask("CLUSTER", "MEET", "127.0.0.1", server.port, busPort);
    }
    await cluster.#everyNode("know each other", (state) => state.includes(`cluster_known_nodes:${nodes.length}`));
    await Promise.all(
      nodes.slice(3).map(({ ask }, i) =>
        eventually("a replica", async () => {
          await ask("CLUSTER", "REPLICATE", primaries[i]?.id ?? "");
          return true;
        }),
      ),
    );
    await cluster.settled();
    return cluster;
  }

  private constructor(nodes: readonly ClusterNode[]) {
    this.nodes = nodes;
  }

  /** For `redisEngine({ nodes })`. */
  get urls(): string[] {
    return this.nodes.map(({ server }) => server.url);
  }

  /** The slot of a key, by the word of the Cluster. */
  async slotOf(key: string): Promise<number> {
    return await this.#anyNode((node) => node.ask("CLUSTER", "KEYSLOT", key).then(Number));
  }

  /** The node that serves a slot, by the word of all that answer. */
  primaryOf(slot: number): Promise<ClusterNode> {
    return eventually(`the primary of slot ${slot}`, async () => {
      const answers = await Promise.allSettled(this.#running.map((node) => primaryPort(node, slot)));
      const ports = answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []));
      const node = this.nodes.find(({ server }) => ports.length > 0 && ports.every((port) => port === server.port));
      return node !== undefined && (await roleOf(node)) === "master" ? node : undefined;
    });
  }

  /** Has the replica of a slot's primary take over, and waits until it has. Gives the new primary. */
  async failOver(slot: number): Promise<ClusterNode> {
    const before = await this.primaryOf(slot);
    const replica = await this.#replicaOf(before);
    await replica.ask("CLUSTER", "FAILOVER");
    return await this.otherThan(before, slot);
  }

  /** Ends the primary of a slot with SIGKILL, and waits until its replica has taken over. Gives both. */
  async killPrimary(slot: number): Promise<{ killed: ClusterNode; primary: ClusterNode }> {
    const killed = await this.primaryOf(slot);
    this.#gone.add(killed);
    await killed.server.kill();
    return { killed, primary: await this.otherThan(killed, slot) };
  }

  /** Freezes the primary of a slot, and waits until its replica has taken over. Gives both. */
  async freezePrimary(slot: number): Promise<{ frozen: ClusterNode; primary: ClusterNode }> {
    const frozen = await this.primaryOf(slot);
    this.#gone.add(frozen);
    frozen.server.pause();
    return { frozen, primary: await this.otherThan(frozen, slot) };
  }

  /** Waits until another node than this one serves a slot. */
  otherThan(node: ClusterNode, slot: number): Promise<ClusterNode> {
    return eventually(`another primary of slot ${slot}`, async () => {
      const primary = await this.primaryOf(slot);
      return primary === node ? undefined : primary;
    });
  }

  /** Brings back a node that was killed or frozen, and waits until it follows the one that took over. */
  async bringBack(node: ClusterNode): Promise<void> {
    await bringBack(node.server);
    this.#gone.delete(node);
    await this.settled();
  }

  /** Brings back all that were killed or frozen, so that the next test finds a Cluster that is well. */
  async restore(): Promise<void> {
    for (const node of this.#gone) await this.bringBack(node);
    await this.settled();
  }

  /**
   * Moves a slot to another primary, key by key, as a Cluster does that is given another shard.
   * @param between Runs before each key is moved, while some of them are here and some there.
   */
  async moveSlot(slot: number, to: ClusterNode, between: () => Promise<unknown> = async () => {}): Promise<void> {
    const from = await this.primaryOf(slot);
    await to.ask("CLUSTER", "SETSLOT", slot, "IMPORTING", from.id);
    await from.ask("CLUSTER", "SETSLOT", slot, "MIGRATING", to.id);
    for (;;) {
      await between();
      const [key] = asList(await from.ask("CLUSTER", "GETKEYSINSLOT", slot, 1)).map(String);
      if (key === undefined) break;
      await from.ask("MIGRATE", "127.0.0.1", to.server.port, key, 0, 5_000);
    }
    // The new owner first: until the old one knows, it still sends clients there to ask.
    const others = this.#running.filter((node) => node !== to && node !== from);
    for (const node of [to, from, ...others]) {
      // Replicas hear of it from their primary.
      if ((await roleOf(node)) === "master") await node.ask("CLUSTER", "SETSLOT", slot, "NODE", to.id);
    }
  }

  /** Another primary than this one. */
  async otherPrimary(than: ClusterNode): Promise<ClusterNode> {
    for (const node of this.#running) if (node !== than && (await roleOf(node)) === "master") return node;
    throw new Error("there is no other primary");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.nodes.map(({ server }) => server.stop()));
  }

  /** Waits until every node says that all slots are served, and every replica has what its primary has. */
  async settled(): Promise<void> {
    await this.#everyNode("are well", (state) => state.includes("cluster_state:ok"));
    await eventually("three primaries, and replicas that have all", async () => {
      const replications = await Promise.all(this.nodes.map((node) => node.ask("INFO", "replication")));
      const followed = replications.filter((text) => String(text).includes("master_link_status:up"));
      // One that comes back takes itself for a primary until it has heard of the other.
      const primaries = replications.filter((text) => String(text).includes("role:master"));
      return (primaries.length === 3 && followed.length === this.nodes.length - 3) || undefined;
    });
  }

  readonly #gone = new Set<ClusterNode>();

  get #running(): ClusterNode[] {
    return this.nodes.filter((node) => !this.#gone.has(node));
  }

  async #everyNode(what: string, holds: (state: string) => boolean): Promise<void> {
    await eventually(`nodes that ${what}`, async () => {
      const states = await Promise.all(this.#running.map((node) => node.ask("CLUSTER", "INFO")));
      return states.every((state) => holds(String(state))) || undefined;
    });
  }

  async #anyNode<T>(ask: (node: ClusterNode) => Promise<T>): Promise<T> {
    return await Promise.any(this.#running.map(ask));
  }

  async #replicaOf({ id }: ClusterNode): Promise<ClusterNode> {
    return await eventually("a replica that can take over", async () => {
      const listed = asList(await this.#anyNode((node) => node.ask("CLUSTER", "REPLICAS", id))).map(String);
      return this.#running.find((node) => listed.some((line) => line.startsWith(node.id)));
    });
  }
}

const asList = (reply: unknown): unknown[] => (Array.isArray(reply) ? reply : []);

async function primaryPort(node: ClusterNode, slot: number): Promise<number> {
  for (const range of asList(await node.ask("CLUSTER", "SLOTS"))) {
    const [first, last, primary] = asList(range);
    if (Number(first) <= slot && slot <= Number(last)) return Number(asList(primary)[1]);
  }
  throw new Error(`nobody serves slot ${slot}`);
}

async function roleOf(node: ClusterNode): Promise<unknown> {
  return asList(await node.ask("ROLE"))[0];
}
