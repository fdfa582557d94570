import type { BrokerConnection, Channel, Message } from "./broker-connection.js";
import { type Envelope, envelopeFrom } from "./envelope.js";

/** A message that the broker has handed to this process and that nobody else gets, as long as the connection lives. */
export class Arrival {
  readonly envelope: Envelope;
  readonly #connection: BrokerConnection;
  readonly #channel: Channel;
  readonly #message: Message;
  readonly #onSettled: ((arrival: Arrival) => void) | undefined;
  #settled = false;

  constructor(
    connection: BrokerConnection,
    channel: Channel,
    message: Message,
    onSettled?: (arrival: Arrival) => void,
  ) {
    this.#connection = connection;
    this.#channel = channel;
    this.#message = message;
    this.#onSettled = onSettled;
    const { content, properties, fields } = message;
    const headers: Readonly<Record<string, unknown>> = properties.headers ?? {};
    this.envelope = envelopeFrom(content, headers, `unnamed-${fields.deliveryTag}`);
  }

  get id(): string {
    return this.envelope.id;
  }

  get dueAt(): number {
    return this.envelope.dueAt;
  }

  get turn(): number {
    return this.envelope.turn;
  }

  /** Whether it is still this process that has it. */
  get isHeld(): boolean {
    return !this.#settled && this.#connection.alive;
  }

  /** Done: the broker deletes it. Answers whether it was still held. */
  acknowledge(): boolean {
    return this.#settle(() => this.#channel.ack(this.#message));
  }

  /** Gives it back to the broker, which hands it to another consumer. */
  giveBack(): boolean {
    return this.#settle(() => this.#channel.nack(this.#message, false, true));
  }

  #settle(tell: () => void): boolean {
    if (!this.isHeld) return false;
    this.#settled = true;
    try {
      tell();
      this.#connection.noteSettled();
    } catch {
      // The channel has just ended, and with it the broker takes everything back.
      return false;
    } finally {
      this.#onSettled?.(this);
    }
    return true;
  }
}
