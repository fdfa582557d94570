import { once } from "node:events";
import { createConnection, createServer, type Socket } from "node:net";

/** Stands between engines and a broker, and cuts all connections when it is told to. */
export interface RabbitmqRelay {
  readonly url: string;
  /** How many connections there are. */
  readonly size: number;
  /** Resolves when a connection hangs. */
  readonly hangs: Promise<void>;
  /** Cuts every connection at once, as a restart of the broker does. */
  cut(): void;
  close(): Promise<void>;
}

/** @param hangsAt The first client that sends these words hears nothing more. */
export async function relayTo(port: number, hangsAt?: string): Promise<RabbitmqRelay> {
  const sockets = new Set<Socket>();
  let isHung = false;
  let hung: () => void = () => {};
  const hangs = new Promise<void>((resolve) => (hung = resolve));
  const server = createServer((near) => {
    const far = createConnection({ port, host: "127.0.0.1" });
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    near.pipe(far).pipe(near);
    if (hangsAt === undefined) return;
    near.on("data", (bytes) => {
      if (isHung || !bytes.includes(hangsAt)) return;
      isHung = true;
      far.unpipe(near);
      hung();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new TypeError("a TCP server without a port");
  const cut = () => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    url: `amqp://127.0.0.1:${address.port}`,
    get size() {
      return sockets.size / 2;
    },
    hangs,
    cut,
    async close() {
      cut();
      server.close();
      await once(server, "close");
    },
  };
}
