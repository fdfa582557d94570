import { copyFile, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openPage } from "./page.js";
import { keptResults } from "./results-file.js";

const docs = join(import.meta.dirname, "..", "docs", "explanation");

let folder: string;
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), "punctual-bench-figures-"))));
afterEach(() => rm(folder, { recursive: true }));

/** The charts of a page by their names. */
async function chartsIn(path: string): Promise<Record<string, string>> {
  const names = (await readdir(path)).toSorted();
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await readFile(join(path, name), "utf8")] as const)),
  );
}

describe("The page on performance", () => {
  it("has the tables and the charts that bench/results.json gives, and no others.", async () => {
    const results = await keptResults(join(import.meta.dirname, "results.json"));
    const copy = join(folder, "performance.md");
    await copyFile(join(docs, "performance.md"), copy);
    await (await openPage(copy)).write(results);
    expect(await readFile(join(docs, "performance.md"), "utf8")).toBe(await readFile(copy, "utf8"));
    expect(await chartsIn(join(docs, "performance"))).toEqual(await chartsIn(join(folder, "performance")));
  });
});
