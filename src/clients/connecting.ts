import { connectProblem, silenceProblem } from "./connect-advice.js";
import { CommandFailure } from "./port.js";
import type { RedisAddress } from "./redis-url.js";
import { isErrorReply, refusal } from "./server-reply.js";

/**
 * The time-out of the library, ms, for a connection that we wait `connectTimeout` for: later than ours, which says what to do
 * about it, and there only to end its attempt.
 */
export function libraryTimeout(connectTimeout: number): number {
  return connectTimeout + 500;
}

/**
 * Waits until a connection is made and logged in, `connectTimeout` ms at most; the time-outs of libraries end with the TCP
 * connection, and a server that then says nothing would hold us for ever. Fails as the port promises.
 */
export async function connected(
  address: RedisAddress,
  connectTimeout: number,
  connecting: Promise<unknown>,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      const giveUp = () => reject(new CommandFailure("not-sent", silenceProblem(address, connectTimeout)));
      // After a blocked event loop the timer comes before the reply that has been lying in the socket: let it be read.
      timer = setTimeout(() => setImmediate(() => setImmediate(giveUp)), connectTimeout);
      connecting.then(() => resolve(), reject);
    });
  } catch (error) {
    if (error instanceof CommandFailure) throw error;
    if (isErrorReply(error)) throw refusal(error);
    const problem = error instanceof Error ? connectProblem(error, address) : String(error);
    throw new CommandFailure("not-sent", problem, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}
