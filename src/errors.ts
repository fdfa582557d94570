/** What went wrong, as a closed set: switch on it. `errorCodes` says what each means and what to do. */
export type ErrorCode = keyof typeof errorCodes;

interface ErrorCodeEntry {
  /** What it means and what the caller can do. */
  readonly meaning: string;
  /** HTTP status that a server in front of the queue answers with. */
  readonly httpStatus: number;
  /** Exit status of a command-line program. */
  readonly exitStatus: number;
}

/** Every error code, its meaning, and what it becomes over HTTP and as an exit status. */
export const errorCodes = {
  "invalid-argument": {
    meaning: "An argument is wrong; nothing was written. The sentence says which one, its value, and what is accepted.",
    httpStatus: 400,
    exitStatus: 64,
  },
  "payload-too-large": {
    meaning: "The encoded payload is over the limit of the queue (`maxPayloadBytes`); nothing was written.",
    httpStatus: 413,
    exitStatus: 65,
  },
  unsupported: {
    meaning: "This engine cannot do that; the sentence says why and which engine can.",
    httpStatus: 501,
    exitStatus: 69,
  },
  "lease-lost": {
    meaning: "The lease has ended, so nothing was changed; the message is delivered again, or was settled already.",
    httpStatus: 409,
    exitStatus: 75,
  },
  refused: {
    meaning: "Redis did not run the call and says why; nothing was changed. It is safe to repeat.",
    httpStatus: 503,
    exitStatus: 75,
  },
  "not-sent": {
    meaning: "The call did not leave this process in the time it was given; nothing was changed. It is safe to repeat.",
    httpStatus: 503,
    exitStatus: 75,
  },
  "outcome-unknown": {
    meaning:
      "The call was sent and no reply came back, so it may or may not have happened. Repeating a schedule with the same id is safe.",
    httpStatus: 504,
    exitStatus: 75,
  },
  "not-confirmed": {
    meaning:
      "The messages are stored and will be delivered, and Redis did not confirm in time what `durability` asks for; `details.results` holds what became of each.",
    httpStatus: 504,
    exitStatus: 75,
  },
  "storage-full": {
    meaning:
      "Redis is at its memory limit and takes no new messages; those it has are still delivered, but for the engine zset-watch, which waits.",
    httpStatus: 507,
    exitStatus: 75,
  },
  misconfigured: {
    meaning: "Redis or the connection is set up so that this cannot work; the sentence says what to change.",
    httpStatus: 500,
    exitStatus: 78,
  },
  undecodable: {
    meaning: "The stored bytes cannot be decoded by the codec of this queue; `cause` holds the codec's error.",
    httpStatus: 500,
    exitStatus: 65,
  },
  "timed-out": {
    meaning: "A handler ran longer than its `timeout`; its signal was aborted and the attempt counts as failed.",
    httpStatus: 504,
    exitStatus: 75,
  },
  internal: {
    meaning:
      "An engine failed in a way that its contract does not know, which is a fault of the engine; `cause` holds its error.",
    httpStatus: 500,
    exitStatus: 70,
  },
  closed: {
    meaning: "The engine or consumer was closed; make a new one.",
    httpStatus: 503,
    exitStatus: 70,
  },
} as const satisfies Record<string, ErrorCodeEntry>;

/** The one error class of punctual. The message is a sentence for people; `code` and `details` are for programs. */
export class PunctualError extends Error {
  override readonly name = "PunctualError";
  /** What kind of failure this is. */
  readonly code: ErrorCode;
  /** Values that belong to the failure, such as the argument refused or the results so far. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    code: ErrorCode,
    message: string,
    options: { cause?: unknown; details?: Readonly<Record<string, unknown>> | undefined } = {},
  ) {
    super(message, "cause" in options ? { cause: options.cause } : undefined);
    this.code = code;
    this.details = options.details ?? {};
  }
}

/** Engines fail with nothing else; an error of another kind is a fault of the engine. */
export function asPunctualError(error: unknown): PunctualError {
  if (error instanceof PunctualError) return error;
  return new PunctualError("internal", "The engine failed in a way that its contract does not know.", { cause: error });
}
