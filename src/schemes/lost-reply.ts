import { CommandFailure } from "../clients/port.js";

/** Whether a command may have run, though there was no answer. */
export function isReplyLost(failure: unknown): boolean {
  return failure instanceof CommandFailure && failure.outcome === "unknown";
}
