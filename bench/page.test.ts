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

2026-01-02, on 2 processors (Some Processor), 8 GiB, Linux 6.1; redis 7.0.15, node 20.20.2. Median, least and most of 3 runs, or of 3 windows of one run where it says so.

How each was set up:

- **punctual**: no options
- **bullmq**: addBulk

### In short

| median            | punctual | bullmq |
| ----------------- | -------: | -----: |
| Drain, messages/s |      200 |     50 |

### Drain

![Drain, messages/s](figures/drain-1000.svg)

messages/s:

| subject  | median | min | max | punctual is … times as good |
| -------- | -----: | --: | --: | --------------------------: |
| punctual |    200 | 100 | 400 |                             |
| bullmq   |     50 |  25 | 100 |                           4 |

**p99 & more**, ms (less is better):

| subject  | median | min | max | punctual is … times as good |
| -------- | -----: | --: | --: | --------------------------: |
| punctual |      1 |   1 |   1 |                             |
| bullmq   |     10 |  10 |  10 |                          10 |

<!-- end -->

After.
`);
    expect(await readdir(join(folder, "figures"))).toEqual(["drain-1000.svg"]);
  });

  it("has a row in short for each case, with a dash for who took no part in it, and without the schemes.", () => {
    const setUps = { ...results.setUps, groupmq: "groups", "zset-list": "a list" };
    const rows = markdownOf({ ...results, setUps }, "figures").split("\n");
    expect(rows.filter((row) => row.startsWith("| median"))).toEqual([
      "| median            | punctual | bullmq | groupmq |",
    ]);
    expect(rows).toContain("| Drain, messages/s |      200 |     50 |       – |");
  });

  it("says where figures are of windows of one run, and whether these overlap.", () => {
    const pageOf = (name: string) =>
      markdownOf({ ...results, results: results.results.map((one) => ({ ...one, case: name })) }, "figures").split(
        "\n",
      );
    expect(pageOf("growth-10000")).toContain("Of 3 windows of one run, one after the other.");
    expect(pageOf("idle-10")).toContain("Of 3 windows of one run, which overlap.");
    expect(pageOf("drain-1000").filter((line) => line.startsWith("Of "))).toEqual([]);
  });

  it("has no charts of cases that were not measured.", async () => {
    const path = join(folder, "figures.md");
    await writeFile(path, "<!-- bench -->\n<!-- end -->\n");
    await (await openPage(path)).write(results);
    await (await openPage(path)).write({ ...results, results: [] });
    expect(await readdir(join(folder, "figures"))).toEqual([]);
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
    // 506 px are the greatest of all, 400.
    const bars = svg.matchAll(/<rect class="(\w+)" x="130" y="\d+" width="([\d.]+)"/gu);
    expect([...bars].map(([, kind, width]) => [kind, width])).toEqual([
      ["punctual", "253"],
      ["peer", "63.3"],
    ]);
    expect(
      [...svg.matchAll(/<path class="range" d="M([\d.]+) \d+H([\d.]+)"/gu)].map(([, from, to]) => [from, to]),
    ).toEqual([
      ["256.5", "636"],
      ["161.6", "256.5"],
    ]);
  });

  it("has an axis with round numbers from 0 on, and says what they are and which way is good.", () => {
    const svg = chartOf(rate!);
    const ticks = svg.matchAll(/<text class="muted" x="([\d.]+)" y="\d+" text-anchor="middle">([\d.]+)<\/text>/gu);
    expect([...ticks].map(([, x, text]) => [x, text])).toEqual([
      ["130", "0"],
      ["256.5", "100"],
      ["383", "200"],
      ["509.5", "300"],
      ["636", "400"],
    ]);
    expect(svg).toContain(">messages/s: more is better</text>");
  });

  it("is well-formed, whatever its heading says.", () => {
    expect(chartOf(late!)).toContain(">p99 &amp; more, ms: less is better</text>");
    expect(chartOf(late!)).toContain("<title>Drain, p99 &amp; more, ms (less is better)</title>");
  });
});
