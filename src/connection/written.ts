import { setImmediate as onImmediate } from "node:timers";

// As it is when this is loaded: a test's fake timers replace it, and would hold up deliveries.
const immediate = onImmediate;

/** Resolves when what was sent has been written: node-redis writes in the next setImmediate, ioredis at once. */
export function written(): Promise<void> {
  return new Promise((resolve) => {
    immediate(() => immediate(resolve));
  });
}
