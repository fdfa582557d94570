/** What a message of the benchmark carries. As JSON it has the size that a case asks for, for every subject the same. */
export interface Payload {
  readonly number: number;
  /** The due time asked for, Unix ms. */
  readonly dueAt: number;
  readonly text: string;
}

/** What a handler is told of a delivery; the bare commands, which read no payload, know no more. */
export type Delivered = Pick<Payload, "number" | "dueAt">;

/** A queue of one subject, on one Redis, behind the same signature for all. */
export interface Harness {
  /** Hands over many messages in the way that the subject has for that; resolves when all are stored. */
  scheduleMany(payloads: readonly Payload[]): Promise<unknown>;
  /** Hands over one message with a call of its own. */
  schedule(payload: Payload): Promise<unknown>;
  /** Starts a consumer that is removed by `close`. Handlers do nothing but tell what came. */
  consume(deliver: (delivered: Delivered) => void, concurrency: number): Promise<void>;
  /** How many messages are not gone yet, in whatever state. */
  pending(): Promise<number>;
  /** Ends consumers and connections. */
  close(): Promise<void>;
}

/** Where a harness finds its queue. */
export interface Place {
  readonly url: string;
  readonly queue: string;
}

/** What the module of a harness exports as `open`. */
export type OpenHarness = (place: Place) => Promise<Harness>;
