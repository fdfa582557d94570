import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { chartOf } from "./chart.js";
import { type Result, type Results, versionLine } from "./results.js";
import { scenarios } from "./scenarios.js";
import { subjects } from "./subjects.js";
import { headingOf, markdownTable, overviewTable, unitOf } from "./table.js";

/** Where the tables of a page stand. */
const place = /(?<=<!-- bench -->\n).*?(?=<!-- end -->)/su;

/** A page that has a place for the results. Fails with a sentence when it has none. */
export async function openPage(path: string): Promise<{ write(results: Results): Promise<void> }> {
  await textWithPlace(path);
  const folder = basename(path, ".md");
  return {
    async write(results) {
      await writeCharts(join(dirname(path), folder), charted(results.results));
      const tables = markdownOf(results, folder);
      // Read again: since it was opened, which may be most of an hour ago, somebody may have written to it.
      const text = await textWithPlace(path);
      // A function, so that a dollar sign in the text means nothing.
      await writeFile(
        path,
        text.replace(place, () => `\n${tables}\n\n`),
      );
    },
  };
}

/** Writes them in place of those that were there: a case that was not measured has none. */
async function writeCharts(folder: string, results: readonly Result[]): Promise<void> {
  await mkdir(folder, { recursive: true });
  const old = (await readdir(folder)).filter((name) => name.endsWith(".svg"));
  for (const name of old) await rm(join(folder, name));
  for (const result of results) await writeFile(join(folder, `${result.case}.svg`), chartOf(result));
}

async function textWithPlace(path: string): Promise<string> {
  const text = await readFile(path, "utf8");
  if (place.test(text)) return text;
  throw new Error(`${path} has no place for the tables: the lines <!-- bench --> and, below it, <!-- end -->.`);
}

/** The results as Markdown; charts are images in `folder`. */
export function markdownOf(results: Results, folder: string): string {
  const { date, machine, versions, setUps, runs } = results;
  const firsts = charted(results.results);
  // The schemes take part in few cases, and stand where they do.
  const names = Object.keys(setUps).filter((name) =>
    subjects.every((one) => one.name !== name || one.kind !== "scheme"),
  );
  return [
    `${date.slice(0, "2026-01-01".length)}, on ${machine.processors} processors (${machine.model}), ${machine.memoryGiB} GiB, ${machine.system}; ${versionLine(versions)}. Median, least and most of ${runs} runs, or of ${runs} windows of one run where it says so.`,
    "How each was set up:",
    Object.entries(setUps)
      .map(([name, setUp]) => `- **${name}**: ${setUp}`)
      .join("\n"),
    "### In short",
    overviewTable(firsts, names),
    ...firsts.map((first) => sectionOf(first, results, folder)),
  ].join("\n\n");
}

/** The chart of a case and the tables of its figures, under one heading. */
function sectionOf(first: Result, { results, runs }: Results, folder: string): string {
  const ofCase = results.filter((result) => result.case === first.case);
  const tables = ofCase.map((result) => {
    const name = result.figure.name === "rate" ? "" : `**${result.figure.name}**, `;
    return `${name}${unitOf(result)}:\n\n${markdownTable(result)}`;
  });
  const chart = `![${headingOf(first)}](${folder}/${first.case}.svg)`;
  return [`### ${first.title}`, ...windowsOf(first, runs), chart, ...tables].join("\n\n");
}

/** A sentence on what the figures are of, when that is windows of one run. */
function windowsOf({ case: name }: Result, runs: number): string[] {
  const one = scenarios.flatMap(({ cases }) => cases).find((other) => other.name === name);
  if (one?.windows === undefined) return [];
  const how = one.windows === "overlapping" ? "which overlap" : "one after the other";
  return [`Of ${runs} windows of one run, ${how}.`];
}

/** One chart a case is enough: its first figure. */
function charted(results: readonly Result[]): readonly Result[] {
  return results.filter((result) => results.find((one) => one.case === result.case) === result);
}
