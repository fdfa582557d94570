import { nextTurn } from "./next-turn.js";

/** Resolves when what was sent has been written: node-redis writes in the next turn of the event loop, ioredis at once. */
export function written(): Promise<void> {
  return new Promise((resolve) => {
    nextTurn(() => nextTurn(resolve));
  });
}
