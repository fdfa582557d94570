import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { ConsumerHealth } from "../../../src/consumer/health.js";
import type { Order, Saying } from "./saying.js";

/** Hears what a process says. */
export type Listener = (process: CrewProcess, saying: Saying) => void;

/** A time in which a process did nothing, Unix ms. */
export interface Absence {
  readonly from: number;
  /** Infinity while it goes on. */
  to: number;
}

/** How long what a consumer said of its health is remembered, ms. */
const remembered = 60_000;

/** A consumer as a process of its own, which can be killed, stopped and blocked. */
export class CrewProcess {
  readonly name: string;
  /** Resolves when it has ended, and all that it said was heard. */
  readonly ended: Promise<unknown>;
  killed = false;
  /** When it was stopped or blocked, Unix ms. */
  readonly absences: Absence[] = [];
  readonly #child: ChildProcess;
  readonly #states: { readonly at: number; readonly state: ConsumerHealth["state"] }[] = [];
  #unblocked: (at: number) => void = () => {};

  constructor(program: string, name: string, argument: string, listener: Listener) {
    this.name = name;
    this.#child = fork(program, [argument], { execArgv: [], stdio: ["ignore", "pipe", "inherit", "ipc"] });
    // What is sent to one that has just been killed.
    this.#child.on("error", () => {});
    const lines = createInterface({ input: this.#child.stdout! });
    lines.on("line", (line) => {
      // The last one may have been cut off by a kill.
      if (!line.endsWith("}")) return;
      const saying = JSON.parse(line) as Saying;
      if (saying.kind === "health") this.#note(saying);
      if (saying.kind === "unblocked") this.#unblocked(saying.at);
      listener(this, saying);
    });
    this.ended = Promise.all([once(this.#child, "exit"), once(lines, "close")]);
  }

  /** What it said of its health last before this time. */
  stateAt(time: number): ConsumerHealth["state"] | undefined {
    return this.#states.findLast(({ at }) => at <= time)?.state;
  }

  /** Whether it was stopped or blocked at some time between these. */
  wasAway(from: number, to: number): boolean {
    return this.absences.some((absence) => absence.from < to && absence.to > from);
  }

  /** Whether it says that it is running. */
  get isRunning(): boolean {
    return this.#states.at(-1)?.state === "running";
  }

  async kill(): Promise<void> {
    this.killNow();
    await this.ended;
  }

  /** The same, without waiting for its end. */
  killNow(): void {
    this.killed = true;
    this.#child.kill("SIGKILL");
  }

  /** Stops it with SIGSTOP. */
  stop(): void {
    this.absences.push({ from: Date.now(), to: Infinity });
    this.#child.kill("SIGSTOP");
  }

  continue(): void {
    this.#child.kill("SIGCONT");
    this.#back();
  }

  /** Keeps its event loop busy for so long, ms. Gives when it was free again. */
  async block(ms: number): Promise<number> {
    this.absences.push({ from: Date.now(), to: Infinity });
    const unblocked = new Promise<number>((resolve) => (this.#unblocked = resolve));
    this.#tell({ block: ms });
    const at = await unblocked;
    this.#back();
    return at;
  }

  /** Has its clock jump ahead by so much, ms, or back. */
  stepClock(by: number): void {
    this.#tell({ stepClock: by });
  }

  letGo(): void {
    this.#tell("let go");
  }

  /** Ends it in good order. */
  async close(): Promise<void> {
    this.#tell("close");
    await this.ended;
  }

  #back(): void {
    const last = this.absences.at(-1);
    if (last !== undefined) last.to = Date.now();
  }

  #tell(order: Order): void {
    this.#child.send(order, () => {});
  }

  #note(health: { readonly at: number; readonly state: ConsumerHealth["state"] }): void {
    const second = this.#states[1];
    if (second !== undefined && second.at < health.at - remembered) this.#states.shift();
    this.#states.push(health);
  }
}
