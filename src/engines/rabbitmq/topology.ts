import type { BrokerConnection, Channel } from "./broker-connection.js";
import type { Ladder } from "./ladder.js";
import type { Names } from "./names.js";

export interface TopologyOptions {
  readonly names: Names;
  readonly ladder: Ladder;
  readonly mode: "ladder" | "plugin";
  /** Left out: by the version of the broker. */
  readonly queues?: "quorum" | "classic" | undefined;
}

/** From this version on a quorum queue can let messages expire, and hand them on until the next queue has them. */
const delaysInQuorum = [3, 10] as const;

/** How often a dead letter may be handed out. RabbitMQ 4 drops it after 20 times, unless it is told another number. */
const handedOutAtMost = 1_000_000_000;

/**
 * What has to be in the broker before a message is put into it. Every process declares all that it uses: declaring what is
 * there changes nothing, and a broker that was set up anew is whole again with the first connection.
 */
export class Topology {
  readonly #names: Names;
  readonly #ladder: Ladder;
  readonly #mode: "ladder" | "plugin";
  readonly #queues: "quorum" | "classic" | undefined;

  constructor({ names, ladder, mode, queues }: TopologyOptions) {
    this.#names = names;
    this.#ladder = ladder;
    this.#mode = mode;
    this.#queues = queues;
  }

  /** Declares what all queues of the prefix share. */
  async declareShared(connection: BrokerConnection): Promise<void> {
    await connection.once("shared", async () => {
      if (this.#mode === "plugin") await this.#declarePlugin(connection);
      // The top is declared last: where it is, so is the rest, and one question is enough.
      else if (!(await connection.ask((channel) => channel.checkExchange(this.#names.level(this.#ladder.levels - 1)))))
        await this.#declareLadder(connection);
    });
  }

  /** Declares the queue from which consumers take the messages of `queue`, and the one for its dead letters. */
  async declareQueue(connection: BrokerConnection, queue: string): Promise<void> {
    await this.declareShared(connection);
    await connection.once(`queue ${queue}`, async () => {
      const channel = await connection.channel();
      const [work, dead] = [this.#names.work(queue), this.#names.dead(queue)];
      await this.#attempt(connection, async () => {
        await channel.assertQueue(dead, { durable: true, arguments: this.#keeping(connection) });
        // A quorum queue of RabbitMQ 4 drops what it has taken back 20 times; with this it goes to the dead letters.
        const taken = { "x-dead-letter-exchange": "", "x-dead-letter-routing-key": dead };
        await channel.assertQueue(work, { durable: true, arguments: { ...this.#handingOn(connection), ...taken } });
        if (this.#mode === "plugin") await channel.bindQueue(work, this.#names.delayed, work);
        else await channel.bindQueue(work, this.#names.due, `${this.#names.word(queue)}.#`);
        await connection.endChannel(channel);
      });
    });
  }

  /** Declares all of it again, for somebody has deleted a part. */
  async mend(connection: BrokerConnection, queue: string): Promise<void> {
    connection.forget();
    if (this.#mode === "ladder") await this.#declareLadder(connection);
    await this.declareQueue(connection, queue);
  }

  /** The names of the queues of the ladder, from the top down. */
  get levels(): readonly string[] {
    return Array.from({ length: this.#ladder.levels }, (_, index) =>
      this.#names.level(this.#ladder.levels - 1 - index),
    );
  }

  /** As the article that this follows does it: the plugin routes by the type in `x-delayed-type` when the time has come. */
  async #declarePlugin(connection: BrokerConnection): Promise<void> {
    const channel = await connection.channel();
    const type = { "x-delayed-type": "direct" };
    await this.#attempt(connection, () =>
      channel.assertExchange(this.#names.delayed, "x-delayed-message", { durable: true, arguments: type }),
    );
    await connection.endChannel(channel);
  }

  async #declareLadder(connection: BrokerConnection): Promise<void> {
    const channel = await connection.channel();
    await this.#attempt(connection, async () => {
      await channel.assertExchange(this.#names.due, "topic", { durable: true });
      for (let level = 0; level < this.#ladder.levels; level++) await this.#declareLevel(connection, channel, level);
    });
    await connection.endChannel(channel);
  }

  /** A message whose bit is 1 waits in the queue of the level, one whose bit is 0 goes on to the level below. */
  async #declareLevel(connection: BrokerConnection, channel: Channel, level: number): Promise<void> {
    const name = this.#names.level(level);
    const below = level === 0 ? this.#names.due : this.#names.level(level - 1);
    await channel.assertQueue(name, {
      durable: true,
      arguments: {
        ...this.#handingOn(connection),
        "x-message-ttl": this.#ladder.ttl(level),
        "x-dead-letter-exchange": below,
      },
    });
    await channel.assertExchange(name, "topic", { durable: true });
    // The name of the queue and the bits of the levels below stand in front.
    const before = "*.".repeat(1 + level);
    await channel.bindQueue(name, name, `${before}1.#`);
    await channel.bindExchange(below, name, `${before}0.#`);
  }

  #isQuorum({ version: [major, minor] }: BrokerConnection): boolean {
    if (this.#queues !== undefined) return this.#queues === "quorum";
    return major > delaysInQuorum[0] || (major === delaysInQuorum[0] && minor >= delaysInQuorum[1]);
  }

  /** A queue that keeps what lies in it, however often it is looked through. */
  #keeping(connection: BrokerConnection): Record<string, unknown> {
    return this.#isQuorum(connection) ? { "x-queue-type": "quorum", "x-delivery-limit": handedOutAtMost } : {};
  }

  /** A queue that keeps a message until the one to which it hands it on has confirmed it; a classic one cannot do that. */
  #handingOn(connection: BrokerConnection): Record<string, unknown> {
    if (!this.#isQuorum(connection)) return {};
    return { "x-queue-type": "quorum", "x-dead-letter-strategy": "at-least-once", "x-overflow": "reject-publish" };
  }

  async #attempt(connection: BrokerConnection, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const failure = connection.explained(error);
      connection.drop(failure);
      throw failure;
    }
  }
}
