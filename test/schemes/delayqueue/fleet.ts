import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundle } from "../../support/bundle.js";

type Bundle = Awaited<ReturnType<typeof bundle>>;

/** What a consumer process is told at its start. */
export interface Order {
  readonly url: string;
  readonly queue: string;
  /** The file in which it notes what it is given: id and "early" or "due". */
  readonly journal: string;
}

/** Consumer processes of one queue, which can be killed, and what they were given. */
export class Fleet implements AsyncDisposable {
  readonly #program: Bundle;
  readonly #folder: string;
  readonly #order: Order;
  readonly #children: ChildProcess[] = [];

  private constructor(program: Bundle, folder: string, order: Omit<Order, "journal">) {
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
  async noted(): Promise<{ readonly id: string; readonly early: boolean }[]> {
    const text = await readFile(this.#order.journal, "utf8").catch(() => "");
    return text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => line.split(" "))
      .map(([id = "", when]) => ({ id, early: when === "early" }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#children.splice(0).map(kill));
    await rm(this.#folder, { recursive: true, force: true });
    await this.#program[Symbol.asyncDispose]();
  }

  #add(): void {
    this.#children.push(
      fork(this.#program.path, [JSON.stringify(this.#order)], {
        execArgv: [],
        stdio: ["ignore", "ignore", "inherit", "ipc"],
      }),
    );
  }
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "exit");
}
