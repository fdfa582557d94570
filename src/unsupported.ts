import type { EngineQueue } from "./engine.js";
import { PunctualError } from "./errors.js";

/** What can be asked of an engine. */
export type Operation = Exclude<keyof EngineQueue, "clock" | "closed" | "partitions">;

/** What a refusal tells besides its sentence. */
interface RefusalDetails {
  readonly operation: Operation;
  readonly [name: string]: unknown;
}

/**
 * What an engine says of something that it cannot do: the middle and the end of a sentence that begins with "The engine
 * zset-remove cannot", as "cancel" and "it finds no message by its id".
 */
export function unsupported(engine: string, what: string, why: string, details: RefusalDetails): PunctualError {
  return new PunctualError("unsupported", `The engine ${engine} cannot ${what}: ${why}. The engine redis can.`, {
    details: { engine, ...details },
  });
}
