import { setImmediate } from "node:timers";

/**
 * Runs a task in the next turn of the event loop. It is `setImmediate` as it was when this was loaded: a test's fake timers replace
 * it, and would hold up what has to go on.
 */
export const nextTurn: (task: () => void) => void = setImmediate;
