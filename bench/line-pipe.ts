import { once } from "node:events";
import { connect, type Socket } from "node:net";

interface Waiting {
  readonly lines: number;
  readonly got: string[];
  readonly resolve: (lines: string[]) => void;
  readonly reject: (error: Error) => void;
}

/** A connection on which whoever sends says how many lines the replies have, which spares a parser. */
export class LinePipe {
  readonly #socket: Socket;
  readonly #waiting: Waiting[] = [];
  #outgoing: string[] = [];
  #rest = "";

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.setEncoding("latin1");
    socket.on("data", (text) => this.#read(String(text)));
    socket.on("close", () => {
      for (const { reject } of this.#waiting.splice(0)) reject(new Error("The connection was closed."));
    });
  }

  static async connect(url: string): Promise<LinePipe> {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    await once(socket, "connect");
    return new LinePipe(socket);
  }

  /** Sends commands and resolves to their replies, line by line. What is sent in one tick goes out as one piece. */
  send(commands: string, lines: number): Promise<string[]> {
    if (this.#outgoing.push(commands) === 1) {
      process.nextTick(() => {
        this.#socket.write(this.#outgoing.join(""), "latin1");
        this.#outgoing = [];
      });
    }
    return new Promise((resolve, reject) => this.#waiting.push({ lines, got: [], resolve, reject }));
  }

  close(): void {
    this.#socket.destroy();
  }

  #read(text: string): void {
    const lines = (this.#rest + text).split("\r\n");
    this.#rest = lines.pop() ?? "";
    let at = 0;
    let done = 0;
    for (const waiting of this.#waiting) {
      while (waiting.got.length < waiting.lines && at < lines.length) {
        const line = lines[at++] ?? "";
        if (line.startsWith("-")) throw new Error(`The server refused a bare command: ${line.slice(1)}`);
        waiting.got.push(line);
      }
      if (waiting.got.length < waiting.lines) break;
      waiting.resolve(waiting.got);
      done += 1;
    }
    this.#waiting.splice(0, done);
  }
}
