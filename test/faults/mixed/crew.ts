import type { Random } from "../../../demo/seeded-random.js";
import { CrewProcess } from "./crew-process.js";
import type { Reach } from "./reach.js";
import type { Saying } from "./saying.js";

/** What each consumer process is told at its start. */
export interface CrewOptions {
  readonly reach: Reach;
  readonly queue: string;
  readonly seed: number;
  /** How many there are in the run. */
  readonly messages: number;
  readonly concurrency: number;
}

type Heard = (process: CrewProcess, saying: Saying) => void;

/** Hears of all processes. */
export interface CrewListener {
  heard: Heard;
  wasKilled(name: string): void;
}

/** The consumer processes of a run: as many at any time, though they are killed. */
export class Crew implements AsyncDisposable {
  readonly #program: string;
  readonly #argument: string;
  readonly #listener: CrewListener;
  readonly #hearers = new Set<Heard>();
  #processes: CrewProcess[];
  #started = 0;
  /** Names of processes that ended by themselves. */
  readonly failed: string[] = [];
  readonly #concurrency: number;
  #closing = false;
  /** One that is stopped would outlive this process. */
  readonly #atExit = () => this.#processes.forEach((one) => one.killNow());

  constructor(program: string, count: number, options: CrewOptions, listener: CrewListener) {
    this.#program = program;
    this.#argument = JSON.stringify(options);
    this.#listener = listener;
    this.#concurrency = options.concurrency;
    this.#processes = Array.from({ length: count }, () => this.#start());
    process.once("exit", this.#atExit);
  }

  get processes(): readonly CrewProcess[] {
    return this.#processes;
  }

  /** How many messages all of them can work on at once. */
  get places(): number {
    return this.#processes.length * this.#concurrency;
  }

  /** One of them. */
  any(random: Random): CrewProcess {
    const process = this.#processes[Math.floor(random() * this.#processes.length)];
    if (process === undefined) throw new Error("there is no consumer process");
    return process;
  }

  /** Kills one with SIGKILL. Resolves when another one, in its place, runs. */
  async replace(killed: CrewProcess): Promise<void> {
    // It says nothing any more.
    this.#listener.wasKilled(killed.name);
    await killed.kill();
    const fresh = this.#start();
    this.#processes = this.#processes.map((process) => (process === killed ? fresh : process));
    await this.until((process) => process === fresh, 30_000, "a consumer process that begins");
  }

  /** Waits until somebody says what is looked for. */
  until(isIt: (process: CrewProcess, saying: Saying) => boolean, within: number, what: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#hearers.delete(hear);
        reject(new Error(`not within ${within} ms: ${what}`));
      }, within);
      const hear: Heard = (process, saying) => {
        if (!isIt(process, saying)) return;
        clearTimeout(timer);
        this.#hearers.delete(hear);
        resolve();
      };
      this.#hearers.add(hear);
    });
  }

  letGo(): void {
    for (const process of this.#processes) process.letGo();
  }

  /** Ends all in good order. */
  async close(): Promise<void> {
    this.#closing = true;
    await Promise.all(this.#processes.map((process) => process.close()));
    this.#processes = [];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing = true;
    process.off("exit", this.#atExit);
    await Promise.all(this.#processes.map((one) => one.kill()));
  }

  #start(): CrewProcess {
    const name = `consumer-${++this.#started}`;
    const process = new CrewProcess(this.#program, name, this.#argument, (speaker, saying) => {
      this.#listener.heard(speaker, saying);
      for (const hear of this.#hearers) hear(speaker, saying);
    });
    void process.ended.then(() => {
      if (!process.killed && !this.#closing) this.failed.push(name);
    });
    return process;
  }
}
