import { PunctualError } from "../../errors.js";

/** Engines fail with nothing else; another error is a fault of this library. */
export function asFailure(error: unknown): PunctualError {
  if (error instanceof PunctualError) return error;
  return new PunctualError("internal", "A partition failed in a way that the contract does not know.", {
    cause: error,
  });
}
