import type { Clock } from "../../clock.js";
import type { Channel, Message } from "./broker-connection.js";

/** How long a message may still come after its consumer has ended, ms. */
const late = 10_000;

/** What the client library has of the consumers of a channel, and does not declare. */
interface ConsumerBook {
  registerConsumer(tag: string, consumer: (message: Message | null) => void): void;
  unregisterConsumer(tag: string): void;
}

/**
 * Has the broker hand out nothing more to a consumer. A quorum queue may have sent a message just before; it comes after the
 * end was confirmed. The library knows no such consumer any more then and ends the channel, with all that is open on it. So the
 * consumer stays known for a while, and `consumer` gets what comes.
 */
export async function endConsumer(
  channel: Channel,
  tag: string,
  clock: Clock,
  consumer: (message: Message | null) => void,
): Promise<void> {
  await channel.cancel(tag);
  const book = channel as Channel & ConsumerBook;
  // No message comes in between: the library reads on in a later task.
  book.registerConsumer(tag, consumer);
  clock.runAfter(late, () => book.unregisterConsumer(tag));
}
