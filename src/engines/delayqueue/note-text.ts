import type { FailureRecord } from "../../engine.js";
import { PunctualError } from "../../errors.js";
import { readFailureText } from "../../scripting/failure-text.js";

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

export function readFailure(text: string): FailureRecord | undefined {
  return inFormat(() => readFailureText(text));
}

function entriesOf(text: string): [string, unknown][] {
  return inFormat(() => {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed !== "object" || parsed === null) throw new TypeError("it is no object");
    return Object.entries(parsed);
  });
}

function inFormat<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new PunctualError("misconfigured", "a stored note is not in the format of this library", { cause });
  }
}
