import { existsSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { describe, expect, it } from "vitest";
import { read, root } from "../source-files.js";

/** The tests that a text names: a file of the repository, or a page about cases, and what is named behind it. */
function named(page: string, text: string): { readonly path: string; readonly name: string | undefined }[] {
  return [...text.matchAll(/(?:`([^`]+\.test\.ts)`|\[[^\]]+\]\(([^)#]+)\))(?:: “([^”]+)”)?/gu)].map(
    ([, file, link = "", name]) => ({ path: file ?? posix.join(dirname(page), link), name }),
  );
}

/** The rows of the tables of a text: their cells. */
function rows(text: string): string[][] {
  const lines = text.split("\n").filter((line) => line.startsWith("| ") && !line.startsWith("| --"));
  return lines.map((line) => line.split(" | ").map((cell) => cell.replace(/^\| | \|$/gu, "").trim()));
}

describe("docs/explanation/guarantees.md", () => {
  const page = "docs/explanation/guarantees.md";
  const text = read(page);
  const [, promises = ""] = text.split("\n## What each promise is worth then\n");

  it("has every promise of the contract, each with tests that are there", () => {
    const contract = [...read("src/engine.ts").matchAll(/^ \* +(\d+\. )\*\*(.+?)\.\*\*/gmu)].map(
      ([, number, name]) => `${number}${name}`,
    );
    const table = rows(promises.split("\n## ")[0] ?? "").slice(1);
    expect(table.map(([promise]) => promise)).toEqual(contract);
    const files = table.map(([, , tests = ""]) => named(page, tests).map(({ path }) => path));
    expect(files.filter((some) => some.length === 0)).toEqual([]);
    expect(files.flat().filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });

  it.each(["runs", "recovery"])("has a place for figures: %s", (part) => {
    expect(text).toMatch(new RegExp(`<!-- ${part} -->\\n.*<!-- end -->`, "su"));
  });

  it("explains every fault, and no other", () => {
    const [, faults = ""] = text.split("\nWhat the faults are:\n");
    const code = ["connection-faults", "server-faults", "process-faults", "login", "sentinel", "cluster"]
      .map((file) => read(`test/faults/mixed/${file}.ts`))
      .join("\n");
    const names = [
      ...code.matchAll(/\b(?:struck|weather|fault|silence|asked|failover)\(\s*"([^"]+)"|\bname: "([^"]+)"/gu),
    ].map(([, ...found]) => found.find((name) => name !== undefined));
    const explained = rows(faults).slice(1);
    expect(new Set(explained.map(([name]) => name))).toEqual(new Set(names));
  });
});

describe("docs/reference/what-can-go-wrong.md", () => {
  const page = "docs/reference/what-can-go-wrong.md";
  const [shown = "", notHere = ""] = read(page).split("\n## What cannot go wrong");
  const all = rows(shown).filter(([first]) => first !== "what goes wrong");

  it("has what goes wrong, and what cannot", () => {
    expect(all.length).toBeGreaterThan(50);
    expect(rows(notHere).length).toBeGreaterThan(5);
  });

  it.each(all)("%s: %s; the tests that are named are there", (_what, _here, tests = "") => {
    const links = named(page, tests);
    expect(links).not.toEqual([]);
    for (const { path, name = "without a name" } of links) {
      // Long lines of the sources are broken at no place inside a string.
      expect([path, name, read(path).includes(name)]).toEqual([path, name, true]);
    }
  });
});
