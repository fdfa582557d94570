import { PunctualError } from "../errors.js";
import { CommandFailure, type Connection, type Connector } from "./port.js";
import type { Open } from "./within.js";

/** How long one server is asked alone before the next is asked too, ms. One that is there answers in a few. */
const headStart = 200;

export interface Question<T> {
  /** Whom to ask, in this order. */
  readonly of: readonly Connector[];
  /** What to ask; one that has no good answer throws, and then the next is asked. */
  readonly ask: (connection: Connection, index: number) => Promise<T>;
  readonly open: Open;
}

/**
 * Asks servers that should all know the same, one after the other, until the first of them answers; while one is silent, the
 * next is asked beside it. Gives the answer, and which of them gave it. When all have failed, fails with what each of them said.
 */
export async function askInTurn<T>({ of: servers, ask, open }: Question<T>): Promise<{ answer: T; from: number }> {
  const problems: CommandFailure[] = [];
  return await new Promise((resolve, reject) => {
    let asked = 0;
    let timer: NodeJS.Timeout | undefined;
    const askNext = () => {
      clearTimeout(timer);
      const from = asked++;
      const server = servers[from];
      if (server === undefined) return;
      timer = setTimeout(askNext, headStart);
      open(server)
        .then((connection) => ask(connection, from))
        .then(
          (answer) => {
            clearTimeout(timer);
            asked = servers.length;
            resolve({ answer, from });
          },
          (error: unknown) => {
            if (!(error instanceof CommandFailure)) {
              clearTimeout(timer);
              asked = servers.length;
              reject(asError(error));
              return;
            }
            problems.push(error);
            if (problems.length === servers.length) reject(failureOf(servers, problems));
            else if (asked === from + 1) askNext();
          },
        );
    };
    askNext();
  });
}

/** Where none of them lets us in, that is what has to be changed; else those that are out of reach may come back. */
function failureOf(servers: readonly Connector[], problems: readonly CommandFailure[]): CommandFailure {
  const [first] = problems;
  if (first?.outcome === "refused" && problems.every(({ code }) => code === first.code)) return first;
  const all = `${servers.map(({ target }) => target).join(", ")}: ${[...new Set(problems.map(({ message }) => message))].join("; ")}`;
  return new CommandFailure("not-sent", all, { cause: first?.cause ?? first });
}

const asError = (error: unknown): Error =>
  error instanceof Error ? error : new PunctualError("misconfigured", String(error));
