import { PunctualError } from "../../errors.js";

/** What is to be changed when the broker or the system answers with one of these, by a sign in the text of the error. */
const advice: readonly (readonly [sign: RegExp, code: "misconfigured" | "not-sent", sentence: string])[] = [
  [
    /unknown exchange type 'x-delayed-message'/,
    "misconfigured",
    'the broker has no exchange type x-delayed-message: enable its plugin rabbitmq_delayed_message_exchange, or leave out mode: "plugin", since the ladder needs none',
  ],
  [
    /inequivalent arg/,
    "misconfigured",
    "a queue or exchange of this name is there with other properties: use another prefix, or the options (mode, queues) with which it was made",
  ],
  [/invalid arg 'x-queue-type'/, "misconfigured", 'the broker has no such queues: try queues: "classic"'],
  [/ACCESS.REFUSED/, "misconfigured", "the broker refuses this user. Are user and password right, and may it do this?"],
  [/NOT.ALLOWED/, "misconfigured", "the broker has no such vhost, or the user may not use it"],
  [/ECONNREFUSED/, "not-sent", "nothing listens there. Is RabbitMQ running, and is the port right?"],
  [/ENOTFOUND|EAI_AGAIN/, "not-sent", "no address is known for this host. Is its name right?"],
  [/EHOSTUNREACH|ENETUNREACH/, "not-sent", "no way leads there. Is the address right, and is the network up?"],
  [/ETIMEDOUT/, "not-sent", "no answer in time. Is it a RabbitMQ that listens there?"],
];

/** A failure of the client library as ours, with what to do about it where that is known. */
export function explained(error: unknown, target: string): PunctualError {
  if (error instanceof PunctualError) return error;
  const text = textOf(error);
  const signs = `${text} ${error instanceof Error && "code" in error ? String(error.code) : ""}`;
  const [, code, sentence] = advice.find(([sign]) => sign.test(signs)) ?? [undefined, "not-sent", undefined];
  const problem = sentence === undefined ? text : `${sentence} (${text})`;
  return new PunctualError(code, `Cannot use the RabbitMQ at ${target}: ${problem}`, { cause: error });
}

function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // A host with several addresses fails with one error for each of them and no text of its own.
  if (error instanceof AggregateError && error.message === "") return error.errors.map(textOf).join("; ");
  return error.message;
}
