import type { CancelTimer, Clock } from "../../clock.js";
import { Arrival } from "./arrival.js";
import type { BrokerConnection, Channel, Message } from "./broker-connection.js";
import { endConsumer } from "./end-consumer.js";

export interface HandOutOptions {
  readonly queue: string;
  readonly clock: Clock;
  /** Waits for an answer of the broker; fails when there is none. */
  readonly answered: <T>(connection: BrokerConnection, call: Promise<T>) => Promise<T>;
}

/** Up to so many are asked for one by one; a quorum queue writes to its disk for each. */
const fewAtMost = 4;
/** If the broker hands out nothing more for so long, others have taken it, ms. */
const silence = 100;

/** Takes `count` messages out of a queue of the broker, or as many as there are. One call at a time on a channel. */
export async function handOut(
  connection: BrokerConnection,
  channel: Channel,
  count: number,
  options: HandOutOptions,
): Promise<Arrival[]> {
  return count <= fewAtMost ? ask(connection, channel, count, options) : receive(connection, channel, count, options);
}

/** One by one. */
async function ask(
  connection: BrokerConnection,
  channel: Channel,
  count: number,
  { queue, answered }: HandOutOptions,
): Promise<Arrival[]> {
  const come: Arrival[] = [];
  for (let left = count; left > 0; left--) {
    const message = await answered(connection, channel.get(queue));
    if (message === false) break;
    come.push(new Arrival(connection, channel, message));
  }
  return come;
}

/** Many together, as a consumer that ends when it has them. */
async function receive(
  connection: BrokerConnection,
  channel: Channel,
  count: number,
  { queue, clock, answered }: HandOutOptions,
): Promise<Arrival[]> {
  const come: Arrival[] = [];
  // It holds for the next consumer of the channel.
  await answered(connection, channel.prefetch(count));
  let hear: () => void = () => {};
  let isOver = false;
  const take = (message: Message | null) => {
    // One that is no message says that the queue was deleted; the next question says that, too.
    if (message === null) return;
    const arrival = new Arrival(connection, channel, message);
    // Too late for this call; others get it.
    if (isOver) arrival.giveBack();
    else come.push(arrival);
    hear();
  };
  const consuming = channel.consume(queue, take);
  const { consumerTag } = await answered(connection, consuming);
  for (let before = -1; come.length < count && come.length > before;) {
    before = come.length;
    await new Promise<void>((resolve) => {
      const cancel: CancelTimer = clock.runAfter(silence, resolve);
      hear = () => {
        if (come.length < count) return;
        cancel();
        resolve();
      };
    });
  }
  await answered(connection, endConsumer(channel, consumerTag, clock, take));
  isOver = true;
  return come;
}
