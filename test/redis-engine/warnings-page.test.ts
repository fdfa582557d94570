import { describe, expect, it } from "vitest";
import { read } from "../source-files.js";

const section = read("docs/reference/engines.md").split("### A look at the server")[1]?.split("\n### ")[0] ?? "";
const [, union = ""] =
  /interface ServerWarning \{[^}]*readonly code: ([^;]+);/.exec(read("src/connection/server-check.ts")) ?? [];
const codes = Array.from(union.matchAll(/"(\w+)"/g), ([, code = ""]) => code);

describe("The page on engines", () => {
  it("has a row for each warning about a server", () => {
    const rows = Array.from(section.matchAll(/^\| `(\w+)` .*\bwarning +\|$/gm), ([, code = ""]) => code);
    expect(rows).toEqual(codes);
  });

  it("can be searched for the code that is printed", () => {
    const printed = Array.from(section.matchAll(/`PUNCTUAL_(\w+)`/g), ([, code = ""]) => code.toLowerCase());
    expect(printed).toEqual(codes);
  });
});
