import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** How bytes travel, for all connections of a proxy. */
export interface Weather {
  /** Each frame arrives so much later, ms. */
  delay: number;
  /** Whether each byte comes as a packet of its own. */
  byteByByte: boolean;
  /** What is sent waits for this. */
  stalled: Promise<void> | undefined;
}

/** One direction of one proxied connection: bytes come out in the order in which they went in, through all weather. */
export class ProxyLane {
  readonly #to: Socket;
  readonly #weather: Weather;
  #last: Promise<void> = Promise.resolve();
  #swallowing = false;

  constructor(to: Socket, weather: Weather) {
    this.#to = to;
    this.#weather = weather;
  }

  /** Everything from now on, and what is still on its way, is lost. */
  swallow(): void {
    this.#swallowing = true;
  }

  send(bytes: Buffer): void {
    const { delay } = this.#weather;
    const arrived = delay === 0 ? undefined : sleep(delay);
    this.#after(async () => {
      await arrived;
      await this.#weather.stalled;
      if (this.#swallowing || this.#to.destroyed) return;
      if (!this.#weather.byteByByte) {
        this.#to.write(bytes);
        return;
      }
      for (const byte of bytes) {
        if (this.#to.destroyed) return;
        await new Promise<void>((resolve) => this.#to.write(Uint8Array.of(byte), () => resolve()));
      }
    });
  }

  /** Closes the far side when all has arrived. */
  end(): void {
    this.#after(async () => {
      await this.#weather.stalled;
      if (!this.#swallowing) this.#to.end();
    });
  }

  #after(step: () => Promise<void>): void {
    this.#last = this.#last.then(step, step);
  }
}
