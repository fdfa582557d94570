import { CommandFailure, type Connection, type Connector } from "./port.js";

/** Makes a connection that is closed when the time is over, or when it is not the one that was looked for. */
export type Open = (connector: Connector) => Promise<Connection>;

/**
 * Runs what it takes to find the right server, or to ask several, for at most so long. In the end every connection is closed
 * that was opened for it, but the one that comes out.
 * @param problem What it means when the time is over, for the error text.
 */
export async function within<T>(timeout: number, problem: string, work: (open: Open) => Promise<T>): Promise<T> {
  const opened = new Set<Connection>();
  let over = false;
  let timer: NodeJS.Timeout | undefined;
  const open: Open = async (connector) => {
    const connection = await connector.connect(timeout);
    if (over) connection.destroy();
    else opened.add(connection);
    return connection;
  };
  const late = new Promise<never>((_, reject) => {
    const giveUp = () => reject(new CommandFailure("not-sent", `${problem} within ${timeout} ms`));
    // After a blocked event loop the timer comes before the replies that have been lying in the sockets: let them be read.
    timer = setTimeout(() => setImmediate(() => setImmediate(giveUp)), timeout);
  });
  try {
    const result = await Promise.race([work(open), late]);
    for (const connection of opened) if (connection === result) opened.delete(connection);
    return result;
  } finally {
    over = true;
    clearTimeout(timer);
    for (const connection of opened) connection.destroy();
  }
}
