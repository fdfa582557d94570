import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { chartOf } from "./chart.js";
import { markdownOf, openPage } from "./page.js";
import { type Results, resultsOf } from "./results.js";

const found = new Map([
  ["punctual", [100, 200, 400].map((rate) => ({ rate, "p99 & more": 1 }))],
  ["bullmq", [50, 25, 100].map((rate) => ({ rate, "p99 & more": 10 }))],
]);

const results: Results = {
  date: "2026-01-02T03:04:05.678Z",
  machine: { processors: 2, model: "Some Processor", memoryGiB: 8, system: "Linux 6.1" },
  versions: { redis: "7.0.15", node: "20.20.2" },
  setUps: { punctual: "no options", bullmq: "addBulk" },
  runs: 3,
  results: resultsOf(
    {
      name: "drain-1000",
      title: "Drain",
      figures: [
        { name: "rate", unit: "messages/s", better: "more" },
        { name: "p99 & more", unit: "ms", better: "less" },
      ],
    },
    found,
  ),
};

let folder: string;
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), "punctual-bench-page-"))));
afterEach(() => rm(folder, { recursive: true }));

describe("A page of figures", () => {
  it("gets tables in their place, and leaves the rest, however often.", async () => {
    const path = join(folder, "figures.md");
    await writeFile(path, "# Figures\n\n<!-- bench -->\nold $1\n<!-- end -->\n\nAfter.\n");
    await (await openPage(path)).write(results);
    await (await openPage(path)).write(results);
    expect(await readFile(path, "utf8")).toBe(`# Figures

<!-- bench -->

2026-01-02, on 2 processors (Some Processor), 8 GiB, Linux 6.1; redis 7.0.15, node 20.20.2. Median, least and most of 3 runs, or of as many as the heading says.

How each was set up:

- **punctual**: no options
- **bullmq**: addBulk

### Drain, messages/s

![Drain, messages/s](figures/drain-1000.svg)

| subject  | median | min | max | punctual is … times as good |
| -------- | -----: | --: | --: | --------------------------: |
| punctual |    200 | 100 | 400 |                             |
| bullmq   |     50 |  25 | 100 |                           4 |

### Drain, p99 & more, ms (less is better)

| subject  | median | min | max | punctual is … times as good |
| -------- | -----: | --: | --: | --------------------------: |
| punctual |      1 |   1 |   1 |                             |
| bullmq   |     10 |  10 |  10 |                          10 |

<!-- end -->

After.
`);
    expect(await readdir(join(folder, "figures"))).toEqual(["drain-1000.svg"]);
  });

  it("says in a heading that there were fewer runs.", () => {
    const markdown = markdownOf({ ...results, runs: 5 }, "figures");
    expect(markdown).toContain("### Drain, messages/s; 3 runs\n");
  });

  it("keeps what was written to it during the run.", async () => {
    const path = join(folder, "figures.md");
    await writeFile(path, "Before.\n<!-- bench -->\n<!-- end -->\n");
    const page = await openPage(path);
    await writeFile(path, "Meanwhile.\n<!-- bench -->\n<!-- end -->\n");
    await page.write(results);
    expect(await readFile(path, "utf8")).toMatch(/^Meanwhile\.\n/u);
  });

  it("is refused when it has no place for them.", async () => {
    const path = join(folder, "figures.md");
    await writeFile(path, "# Figures\n");
    await expect(openPage(path)).rejects.toThrow("has no place for the tables: the lines <!-- bench -->");
  });
});

describe("A chart", () => {
  const [rate, late] = results.results;

  it("has a bar for each subject as long as its median, and a line from the least to the most.", () => {
    const svg = chartOf(rate!);
    // 500 px are the greatest of all, 400.
    expect([...svg.matchAll(/<rect x="130" y="\d+" width="([\d.]+)"/g)].map(([, width]) => width)).toEqual([
      "250",
      "62.5",
    ]);
    expect([...svg.matchAll(/<path d="M([\d.]+) \d+H([\d.]+)"/g)].map(([, from, to]) => [from, to])).toEqual([
      ["255", "630"],
      ["161.3", "255"],
    ]);
  });

  it("is well-formed, whatever its heading says.", () => {
    expect(chartOf(late!)).toContain("<title>Drain, p99 &amp; more, ms (less is better)</title>");
  });
});
