import type { Clock } from "../../clock.js";
import { gaveUp, Patience } from "../../connection/supervisor-patience.js";
import type { CallOptions } from "../../engine.js";
import { PunctualError } from "../../errors.js";
import type { BrokerConnection, ConfirmChannel } from "./broker-connection.js";
import { type Envelope, headersOf } from "./envelope.js";
import { closedError, type Link } from "./link.js";
import type { Place } from "./places.js";

/** A message on its way into the broker. */
export interface Parcel {
  readonly envelope: Envelope;
  /** Where to put it, by the time at which it is sent: what is left of a delay shrinks with each try. */
  readonly place: (now: number) => Place;
}

export interface SenderOptions {
  readonly link: Link;
  /** Declares the queue on a connection, once. */
  readonly declare: (connection: BrokerConnection) => Promise<void>;
  /** Declares everything again. */
  readonly mend: (connection: BrokerConnection) => Promise<void>;
  readonly target: string;
  readonly clock: Clock;
}

/** How long each part of a call waits for the broker unless the call says otherwise, ms. */
const defaultTimeout = 10_000;
/** Messages and bytes at most that wait for their confirmation at a time; one message at least. */
const most = { messages: 500, bytes: 1_048_576 };
/** Pauses before a message is sent again that the broker did not take, ms. */
const firstPause = 50;
const longestPause = 1_000;

type Answer = "confirmed" | "refused" | "unroutable" | "lost";

/** What is known of parcels that were sent, when not all were confirmed. */
export interface Sent {
  /** For each parcel whether the broker has it for sure. */
  readonly confirmed: readonly boolean[];
  readonly failure: PunctualError | undefined;
}

/**
 * Puts messages into the broker, each until the broker has confirmed it or the time is over. One whose confirmation was lost
 * is sent again and may then be there twice; the broker knows no ids, and a message too many is better than one too few.
 */
export class Sender {
  readonly #options: SenderOptions;

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  /** Sends all; fails when one could not be sent. */
  async send(parcels: readonly Parcel[], options: CallOptions = {}): Promise<void> {
    const { failure } = await this.trySending(parcels, options);
    if (failure !== undefined) throw failure;
  }

  async trySending(parcels: readonly Parcel[], { timeout, signal }: CallOptions = {}): Promise<Sent> {
    const confirmed = parcels.map(() => false);
    let patience = new Patience(timeout ?? defaultTimeout, signal, () => this.#options.clock.elapsed());
    try {
      for (let chunk = nextChunk(parcels, 0); chunk.length > 0; chunk = nextChunk(parcels, (chunk.at(-1) ?? 0) + 1)) {
        if (timeout === undefined) {
          patience.end();
          patience = new Patience(defaultTimeout, signal, () => this.#options.clock.elapsed());
        }
        await this.#sendChunk(parcels, chunk, confirmed, patience);
      }
      return { confirmed, failure: undefined };
    } catch (error) {
      if (!(error instanceof PunctualError)) throw error;
      return { confirmed, failure: error };
    } finally {
      patience.end();
    }
  }

  /** Sends some of the parcels until all of them are confirmed, and notes which are. */
  async #sendChunk(
    parcels: readonly Parcel[],
    chunk: readonly number[],
    confirmed: boolean[],
    patience: Patience,
  ): Promise<void> {
    let uncertain = false;
    try {
      for (let tries = 1, left = chunk; left.length > 0; tries++) {
        const connection = await this.#connection(patience);
        const desk = await connection.once("desk", async () => new Desk(await connection.confirmChannel()));
        // One time for all: those with one due time take the same way, on which none overtakes another.
        const now = this.#options.clock.now();
        const sending = left.map((index) => {
          const { envelope, place } = parcels[index] as Parcel;
          return desk.publish(place(now), envelope);
        });
        const answers = await patience.outlasts(Promise.all(sending));
        if (answers === gaveUp) throw this.#silence(connection);
        for (const [place, index] of left.entries()) confirmed[index] = answers[place] === "confirmed";
        uncertain ||= answers.includes("lost");
        left = left.filter((index) => !confirmed[index]);
        if (left.length > 0) await this.#prepareNext(connection, answers, tries, patience);
      }
    } catch (error) {
      throw uncertain && error instanceof PunctualError ? asUnknown(error) : error;
    }
  }

  async #connection(patience: Patience): Promise<BrokerConnection> {
    const connection = await this.#options.link.connection(patience);
    const declared = await patience.outlasts(this.#options.declare(connection));
    if (declared === gaveUp) {
      throw new PunctualError("not-sent", `The time for the call is over; ${this.#options.target} did not answer.`);
    }
    return connection;
  }

  /** After a try that failed: what helps before the next one. */
  async #prepareNext(
    connection: BrokerConnection,
    answers: readonly Answer[],
    tries: number,
    patience: Patience,
  ): Promise<void> {
    const { link, mend, target } = this.#options;
    if (link.closed) throw closedError();
    if (answers.includes("unroutable")) {
      if (tries > 2) {
        throw new PunctualError(
          "misconfigured",
          `The RabbitMQ at ${target} has no queue for the message, though it was declared: somebody deletes queues or bindings of this prefix.`,
        );
      }
      await mend(connection);
    }
    if (!connection.alive) return;
    const pause = Math.min(firstPause * 2 ** (tries - 1), longestPause, patience.left);
    await patience.outlasts(new Promise((resolve) => setTimeout(resolve, pause)));
    if (patience.over !== undefined && answers.includes("refused")) {
      throw new PunctualError("refused", `The RabbitMQ at ${target} did not take the message; its log says why.`);
    }
  }

  #silence(connection: BrokerConnection): PunctualError {
    const { target } = this.#options;
    const { blocked } = connection;
    if (blocked !== undefined) {
      const sentence = `The RabbitMQ at ${target} takes no messages (${blocked}); it may take this one when that is over.`;
      return new PunctualError("outcome-unknown", sentence, { details: { blocked } });
    }
    return new PunctualError(
      "outcome-unknown",
      `The time for the call is over; ${target} did not confirm the message.`,
    );
  }
}

/** A channel on which messages are published, and what the broker said to each. */
class Desk {
  readonly #channel: ConfirmChannel;
  readonly #returned = new Set<string>();
  #published = 0;

  constructor(channel: ConfirmChannel) {
    this.#channel = channel;
    // Comes before the confirmation of the same message.
    channel.on("return", ({ properties }) => this.#returned.add(String(properties.correlationId)));
  }

  publish({ exchange, routingKey, headers, mandatory }: Place, envelope: Envelope): Promise<Answer> {
    const name = String(++this.#published);
    return new Promise((resolve, reject) => {
      const options = {
        persistent: true,
        mandatory,
        correlationId: name,
        contentType: "application/octet-stream",
        headers: { ...headersOf(envelope), ...headers },
      };
      try {
        this.#channel.publish(exchange, routingKey, envelope.payload, options, (error: unknown) => {
          if (error instanceof Error) resolve(error.message === "message nacked" ? "refused" : "lost");
          else resolve(this.#returned.delete(name) ? "unroutable" : "confirmed");
        });
      } catch (error) {
        if (error instanceof RangeError) {
          const sentence = `The headers and the error of message ${JSON.stringify(envelope.id)} are too large for AMQP: ${error.message}`;
          reject(new PunctualError("payload-too-large", sentence, { cause: error }));
        } else resolve("lost");
      }
    });
  }
}

/** The places of the next parcels to send, from one on. */
function nextChunk(parcels: readonly Parcel[], from: number): number[] {
  const chunk: number[] = [];
  let bytes = 0;
  for (let index = from; index < parcels.length && chunk.length < most.messages; index++) {
    bytes += parcels[index]?.envelope.payload.length ?? 0;
    if (chunk.length > 0 && bytes > most.bytes) break;
    chunk.push(index);
  }
  return chunk;
}

/** After a try whose confirmation was lost, no later failure says that nothing was stored. */
function asUnknown(failure: PunctualError): PunctualError {
  if (failure.code === "outcome-unknown" || failure.code === "closed") return failure;
  const sentence = `The message may be stored, and could not be sent again: ${failure.message}`;
  return new PunctualError("outcome-unknown", sentence, { cause: failure });
}
