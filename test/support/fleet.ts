import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundle } from "./bundle.js";

/** What a consumer process is told at its start. */
export interface Order {
  readonly url: string;
  readonly queue: string;
  /** Which engine it consumes from: one of `programs/consumer.ts`. */
  readonly engine: string;
  /** Options of that engine beside the URL. */
  readonly options?: Readonly<Record<string, unknown>>;
  /** The file in which it notes what it is given. */
  readonly journal: string;
  /** How long it works on a message, ms. */
  readonly takes: number;
}

/** A delivery as a process noted it, before it did anything else with it. */
export interface Noted {
  readonly id: string;
  readonly attempt: number;
  readonly early: boolean;
}

type Program = Awaited<ReturnType<typeof bundle>>;

/** Consumer processes of one queue, which can be killed, and what they were given. */
export class Fleet implements AsyncDisposable {
  readonly #program: Program;
  readonly #folder: string;
  readonly #order: Order;
  readonly #children: ChildProcess[] = [];

  private constructor(program: Program, folder: string, order: Omit<Order, "journal">) {
    this.#program = program;
    this.#folder = folder;
    this.#order = { ...order, journal: join(folder, "journal") };
  }

  static async start(count: number, order: Omit<Order, "journal">): Promise<Fleet> {
    const program = await bundle(fileURLToPath(new URL("programs/consumer.ts", import.meta.url)));
    const fleet = new Fleet(program, await mkdtemp(join(tmpdir(), "punctual-fleet-")), order);
    for (let index = 0; index < count; index++) fleet.#add();
    return fleet;
  }

  /** Kills the process that has run longest, and starts another one. */
  async replace(): Promise<void> {
    const oldest = this.#children.shift();
    if (oldest === undefined) throw new Error("there is nobody to kill");
    await kill(oldest);
    this.#add();
  }

  /** All deliveries so far, by all that ever ran. */
  async noted(): Promise<Noted[]> {
    const text = await readFile(this.#order.journal, "utf8").catch(() => "");
    return text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => {
        const [id = "", attempt, when] = line.split(" ");
        return { id, attempt: Number(attempt), early: when === "early" };
      });
  }

  /** Ends all in good order. */
  async close(): Promise<void> {
    await Promise.all(
      this.#children.splice(0).map(async (child) => {
        child.send("close", () => {});
        await once(child, "exit");
      }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#children.splice(0).map(kill));
    await rm(this.#folder, { recursive: true, force: true });
    await this.#program[Symbol.asyncDispose]();
  }

  #add(): void {
    const child = fork(this.#program.path, [JSON.stringify(this.#order)], {
      execArgv: [],
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    child.on("error", () => {});
    this.#children.push(child);
  }
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "exit");
}
