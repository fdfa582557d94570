import type { ServerWarning } from "../../connection/server-check.js";

/** Kinds that this process was warned of already: an application with many engines need not read it many times. */
const emitted = new Set<string>();

/** As a warning of the process, of the type `PunctualWarning`, once a kind. */
export function emitOnce({ code, message }: ServerWarning): void {
  if (emitted.has(code)) return;
  emitted.add(code);
  process.emitWarning(message, { type: "PunctualWarning", code: `PUNCTUAL_${code.toUpperCase()}` });
}
