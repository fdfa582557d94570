import type { FailureRecord } from "../../engine.js";
import { PunctualError } from "../../errors.js";

/** What a note holds as JSON: headers, and the last error. Lua passes it on as it is. Empty when there is none. */

type Headers = Readonly<Record<string, string>>;

export function headersText(headers: Headers | undefined): string {
  return headers === undefined ? "" : JSON.stringify(headers);
}

export function readHeaders(text: string): Headers | undefined {
  if (text === "") return undefined;
  // fromEntries defines properties, so a header named __proto__ stays a header.
  return Object.fromEntries(entriesOf(text).map(([name, value]) => [name, String(value)]));
}

export function failureText(error: FailureRecord | undefined): string {
  return error === undefined ? "" : JSON.stringify({ name: error.name, message: error.message, stack: error.stack });
}

export function readFailure(text: string): FailureRecord | undefined {
  if (text === "") return undefined;
  const { name, message, stack } = Object.fromEntries(entriesOf(text));
  return { name: String(name), message: String(message), ...(typeof stack === "string" && { stack }) };
}

function entriesOf(text: string): [string, unknown][] {
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed !== "object" || parsed === null) throw new TypeError("it is no object");
    return Object.entries(parsed);
  } catch (cause) {
    throw new PunctualError("misconfigured", "a stored note is not in the format of this library", { cause });
  }
}
