import { read } from "../source-files.js";

/** One thing that the reader of a tutorial does, or is to see. */
export type Step =
  | { readonly kind: "save"; readonly file: string; readonly code: string }
  | { readonly kind: "run"; readonly command: string }
  /** In which terminal it is seen: the one of the consumer, or where the commands before it were run. */
  | { readonly kind: "see"; readonly where: "consumer" | "here"; readonly lines: readonly string[] }
  | { readonly kind: "press Ctrl-C" };

const part = /^```([a-z]*) ?([^\n]*)\n([\s\S]*?)^```$|Press Ctrl-C/gm;

/**
 * What a tutorial tells its reader to do, in order: save blocks of TypeScript under the name in their first line, run the
 * lines of `sh` blocks, see `text` blocks (those with `consumer` after the language in the terminal of the consumer), and press
 * Ctrl-C where the prose says so.
 */
export function pageScript(page: string): Step[] {
  return [...read(page).matchAll(part)].flatMap(([, language, where, code = ""]): Step[] => {
    const lines = code.trimEnd().split("\n");
    switch (language) {
      case undefined:
        return [{ kind: "press Ctrl-C" }];
      case "ts":
        return [{ kind: "save", file: (lines[0] ?? "").replace("// ", ""), code }];
      case "sh":
        return lines.map((command) => ({ kind: "run", command }));
      case "text":
        return [{ kind: "see", where: where === "consumer" ? "consumer" : "here", lines }];
      default:
        throw new Error(`${page} has a block in ${language}, which nothing runs.`);
    }
  });
}
