import { readFile, writeFile } from "node:fs/promises";
import type { Figures } from "./figures.js";
import { noCause } from "./judge.js";
import { MarkdownTable } from "./markdown-table.js";

/**
 * What a page can show: a line for each long run, a column for each with the causes of further deliveries, or a column for each
 * run of single faults.
 */
export type Part = "runs" | "causes" | "recovery";

const titles: Readonly<Record<Part, string>> = { runs: "run", causes: "delivered again because", recovery: "fault" };
const add = { runs: addRun, causes: addCauses, recovery: addRecovery };

/** A page with places for these figures. Fails with a sentence when it has not all of them. */
export async function openPage(
  path: string,
  parts: readonly Part[],
): Promise<{ write(figures: Figures): Promise<void> }> {
  const before = await readFile(path, "utf8");
  for (const part of parts) {
    if (placeOf(part).test(before)) continue;
    throw new Error(`${path} has no place for them: the lines <!-- ${part} --> and, below it, <!-- end -->.`);
  }
  return {
    async write(figures) {
      let text = await readFile(path, "utf8");
      for (const part of parts) {
        const table = MarkdownTable.read(placeOf(part).exec(text)?.[0] ?? "", titles[part]);
        add[part](table, figures);
        text = text.replace(placeOf(part), () => `\n${table.text()}\n\n`);
      }
      await writeFile(path, text);
    },
  };
}

const placeOf = (part: Part) => new RegExp(`(?<=<!-- ${part} -->\\n).*?(?=<!-- end -->)`, "su");

/** A later run on the same topology and client takes the line of an earlier one. */
function addRun(table: MarkdownTable, figures: Figures): void {
  const faults = Object.values(figures.faults);
  const duplicates = Object.values(figures.duplicates).reduce((sum, times) => sum + times, 0);
  const set = (column: string, value: string) => table.set(`${figures.topology}, ${figures.client}`, column, value);
  set("minutes", String(Math.round(figures.seconds / 6) / 10));
  set("seed", String(figures.seed));
  set("messages", whole(figures.messages));
  set("deliveries", whole(figures.delivered));
  set("faults", whole(faults.reduce((sum, { count }) => sum + count, 0)));
  set("lost", whole(figures.lost));
  set("early", whole(figures.early));
  set("forgotten by Redis", whole(figures.lostByRedis));
  set("again", whole(duplicates));
  set("of these without a cause", whole(figures.duplicates[noCause] ?? 0));
  set("works again, at most", seconds(Math.max(...faults.map(({ max }) => max))));
}

function addCauses(table: MarkdownTable, { topology, client, duplicates }: Figures): void {
  const run = `${topology}, ${client}`;
  table.clear(run);
  for (const [cause, times] of Object.entries(duplicates)) table.set(cause, run, whole(times));
}

function addRecovery(table: MarkdownTable, { topology, client, faults }: Figures): void {
  for (const [fault, { max }] of Object.entries(faults)) table.set(fault, `${topology}, ${client}`, seconds(max));
}

const whole = (value: number) => value.toLocaleString("en");
const seconds = (ms: number) => `${(ms / 1_000).toFixed(2)} s`;
