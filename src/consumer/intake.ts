import type { ClaimResult, EngineQueue, Watcher } from "../engine.js";
import { BackOff } from "./back-off.js";
import { ClaimLoop, type ClaimLoopOptions, type OnAnswer } from "./claim-loop.js";

export interface IntakeOptions {
  readonly queue: EngineQueue;
  /** Who watches and claims; a name that nobody else has. */
  readonly consumer: string;
  /** How long leases last, ms. */
  readonly lease: number;
  /** Deliveries at most of a message that has no limit of its own. */
  readonly attempts: number;
  readonly random: () => number;
  /** How many messages there is room for now. */
  readonly room: () => number;
  /** See `ClaimLoopOptions`. */
  readonly ahead?: boolean | undefined;
  /** See `ClaimLoopOptions`. */
  readonly onClaim?: ((limit: number) => void) | undefined;
  /** See `ClaimLoopOptions`. */
  readonly onClaimOver?: (() => void) | undefined;
  /** See `ClaimLoopOptions`. */
  readonly onArrival?: ((result: ClaimResult) => void) | undefined;
  /** See `ClaimLoopOptions`. */
  readonly onAnswer: OnAnswer;
  /** The store did not answer a try, or says that it is out of reach; called for each one. */
  readonly onFailure: (failure: unknown) => void;
  /** The end of the watch failed; others find out by themselves that nobody is there. */
  readonly onEndFailure: (failure: unknown) => void;
}

/** Takes messages as they come due: a watch and the claims that it asks for, begun and ended in the right order. */
export class Intake {
  readonly #options: IntakeOptions;
  readonly #loop: ClaimLoop;
  readonly #backOff: BackOff;
  #opening: Promise<void> | undefined;
  #watch: AsyncDisposable | undefined;
  #stopped: Promise<void> | undefined;
  #isInterrupted = false;

  constructor(options: IntakeOptions) {
    this.#options = options;
    this.#loop = new ClaimLoop(options satisfies ClaimLoopOptions);
    this.#backOff = new BackOff(options.queue.clock, options.random);
  }

  /** The watch says that the store is out of reach: it hears nothing, though a claim may have been answered. */
  get isInterrupted(): boolean {
    return this.#isInterrupted;
  }

  /** Starts to watch and claim. Called again, or after `stop`, it does nothing. */
  start(): void {
    if (this.#stopped === undefined) this.#opening ??= this.#open();
  }

  /** See `ClaimLoop`. */
  get arriving(): number {
    return this.#loop.arriving;
  }

  /** There is more room than before. */
  roomMade(): void {
    this.#loop.roomMade();
  }

  /**
   * Sends no new claim. Resolves when the one under way was answered (see `ClaimLoop.stop`) and the watch has ended. The
   * watch ends with the last claim, not with the last message: what comes due meanwhile is for others.
   */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  /** Gives up the claim under way; what it may have taken is due again when the leases end. */
  abandon(): void {
    this.#loop.abandon();
  }

  /** The watch comes first, so that nothing that becomes due after the first claim goes unheard. */
  async #open(): Promise<void> {
    const { queue, consumer, onFailure } = this.#options;
    const watcher: Watcher = {
      wake: (at) => this.#loop.wake(at),
      postpone: (at) => this.#loop.postpone(at),
      interrupted: (cause) => {
        this.#isInterrupted = true;
        onFailure(cause);
      },
      recovered: () => {
        this.#isInterrupted = false;
        this.#loop.recovered();
      },
    };
    while (!this.#isStopped()) {
      // What a watch that failed told before it did, no other one takes back.
      this.#isInterrupted = false;
      try {
        this.#watch = await queue.watch(consumer, watcher);
        // Once it was stopped this starts nothing.
        this.#loop.start();
        return;
      } catch (failure) {
        onFailure(failure);
        // Who was told may have stopped it, and then nobody hurries this wait.
        if (this.#isStopped()) return;
        await this.#backOff.wait();
      }
    }
  }

  #isStopped(): boolean {
    return this.#stopped !== undefined;
  }

  async #stop(): Promise<void> {
    this.#backOff.hurry();
    await this.#loop.stop();
    // One that has not begun yet is ended when it has, even if nobody waits for that any more.
    await this.#opening;
    try {
      await this.#watch?.[Symbol.asyncDispose]();
    } catch (failure) {
      this.#options.onEndFailure(failure);
    }
  }
}
