import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Figures } from "./figures.js";
import { openPage } from "./page.js";

let folder: string;
let page: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "punctual-page-"));
  page = join(folder, "page.md");
  await writeFile(
    page,
    "# A\n\n<!-- runs -->\n<!-- end -->\n\n<!-- causes -->\n<!-- end -->\n\nbetween\n\n<!-- recovery -->\n\n<!-- end -->\n\nafter\n",
  );
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const figures: Figures = {
  topology: "single",
  client: "ioredis",
  partitions: 1,
  seconds: 600,
  seed: 7,
  messages: 240_000,
  delivered: 250_000,
  acknowledged: 230_000,
  lost: 0,
  early: 0,
  lostByRedis: 0,
  lossySeconds: 0,
  duplicates: { "its process was killed": 40, "no known cause": 2 },
  faults: { "server killed": { count: 3, p50: 400, max: 1_234 } },
  lateness: { p50: 1, p99: 20, max: 50 },
  failures: {},
  problems: {},
  node: "20.0.0",
};

describe("A page with a place for figures", () => {
  it("has a line for each run, of which a later one takes the place of an earlier one", async () => {
    const runs = await openPage(page, ["runs"]);
    await runs.write(figures);
    await runs.write({ ...figures, topology: "cluster", messages: 1 });
    await runs.write({ ...figures, seed: 8 });
    const text = await readFile(page, "utf8");
    const rows = text.split("\n").filter((line) => line.startsWith("| ") && !line.startsWith("| --"));
    expect(
      rows.map((row) =>
        row
          .split("|")
          .slice(1, 4)
          .map((cell) => cell.trim()),
      ),
    ).toEqual([
      ["run", "minutes", "seed"],
      ["single, ioredis", "10", "8"],
      ["cluster, ioredis", "10", "7"],
    ]);
    expect(rows[1]).toMatch(/ 240,000 .* 1\.23 s \|$/);
    expect(text).toMatch(
      /^# A\n.*<!-- causes -->\n<!-- end -->\n\nbetween\n\n<!-- recovery -->\n\n<!-- end -->\n\nafter\n$/s,
    );
  });

  it("has a column for each run with the causes of further deliveries, and none that the last one does not have", async () => {
    const causes = await openPage(page, ["causes"]);
    await causes.write({ ...figures, duplicates: { "Redis forgot the lease": 1, "its process was killed": 2 } });
    await causes.write({ ...figures, topology: "cluster" });
    await causes.write({ ...figures, duplicates: { "its process was killed": 1_040 } });
    const rows = (await readFile(page, "utf8")).split("\n").filter((line) => line.startsWith("|"));
    expect(rows.map((row) => row.replaceAll(/ +/g, " "))).toEqual([
      "| delivered again because | single, ioredis | cluster, ioredis |",
      expect.stringMatching(/^\| -+ \| -+: \| -+: \|$/),
      "| its process was killed | 1,040 | 40 |",
      "| no known cause | – | 2 |",
    ]);
  });

  it("has a column for each run of single faults, and a line for each fault", async () => {
    const recovery = await openPage(page, ["recovery"]);
    await recovery.write(figures);
    await recovery.write({ ...figures, client: "node-redis", faults: { "slot moved": { count: 1, p50: 5, max: 5 } } });
    const rows = (await readFile(page, "utf8")).split("\n").filter((line) => line.startsWith("|"));
    expect(rows.map((row) => row.replaceAll(/ +/g, " "))).toEqual([
      "| fault | single, ioredis | single, node-redis |",
      expect.stringMatching(/^\| -+ \| -+: \| -+: \|$/),
      "| server killed | 1.23 s | – |",
      "| slot moved | – | 0.01 s |",
    ]);
  });

  it("has several of them, all filled by one run", async () => {
    await (await openPage(page, ["runs", "causes"])).write(figures);
    const text = await readFile(page, "utf8");
    expect(text).toMatch(/<!-- runs -->\n\n\| run .*<!-- end -->.*<!-- causes -->\n\n\| delivered again because /s);
  });

  it("is told when there is none, or one of several is missing", async () => {
    await writeFile(page, "# A\n\n<!-- runs -->\n<!-- end -->\n");
    await expect(openPage(page, ["runs", "causes"])).rejects.toThrow("the lines <!-- causes --> and, below it");
    await writeFile(page, "# A\n");
    await expect(openPage(page, ["runs"])).rejects.toThrow("the lines <!-- runs --> and, below it, <!-- end -->");
  });
});
