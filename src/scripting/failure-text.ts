import type { FailureRecord } from "../engine.js";

/** The error of a handler as it is stored: JSON, which Lua passes on as it is; empty when there is none. */
export function failureText(error: FailureRecord | undefined): string {
  return error === undefined ? "" : JSON.stringify({ name: error.name, message: error.message, stack: error.stack });
}

/** Reads it again. Throws when it is not in this form. */
export function readFailureText(text: string): FailureRecord | undefined {
  if (text === "") return undefined;
  const parsed: unknown = JSON.parse(text);
  if (typeof parsed !== "object" || parsed === null) throw new TypeError("the error is no object");
  const { name, message, stack } = parsed as Partial<Record<keyof FailureRecord, unknown>>;
  return { name: String(name), message: String(message), ...(typeof stack === "string" && { stack }) };
}
