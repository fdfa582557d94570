import { mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { chartOf } from "./chart.js";
import { type Result, type Results, versionLine } from "./results.js";
import { headingOf, markdownTable } from "./table.js";

/** Where the tables of a page stand. */
const place = /(?<=<!-- bench -->\n).*?(?=<!-- end -->)/su;

/** A page that has a place for the results. Fails with a sentence when it has none. */
export async function openPage(path: string): Promise<{ write(results: Results): Promise<void> }> {
  await textWithPlace(path);
  const folder = basename(path, ".md");
  return {
    async write(results) {
      await mkdir(join(dirname(path), folder), { recursive: true });
      for (const result of charted(results.results)) {
        await writeFile(join(dirname(path), folder, `${result.case}.svg`), chartOf(result));
      }
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

async function textWithPlace(path: string): Promise<string> {
  const text = await readFile(path, "utf8");
  if (place.test(text)) return text;
  throw new Error(`${path} has no place for the tables: the lines <!-- bench --> and, below it, <!-- end -->.`);
}

/** The results as Markdown; charts are images in `folder`. */
export function markdownOf(results: Results, folder: string): string {
  const { date, machine, versions, setUps, runs } = results;
  const hasChart = new Set(charted(results.results));
  const sections = results.results.map((result) => {
    const chart = hasChart.has(result) ? `![${headingOf(result)}](${folder}/${result.case}.svg)\n\n` : "";
    return `### ${headingOf(result)}${fewerRuns(result, runs)}\n\n${chart}${markdownTable(result)}`;
  });
  return [
    `${date.slice(0, "2026-01-01".length)}, on ${machine.processors} processors (${machine.model}), ${machine.memoryGiB} GiB, ${machine.system}; ${versionLine(versions)}. Median, least and most of ${runs} runs, or of as many as the heading says.`,
    "How each was set up:",
    Object.entries(setUps)
      .map(([name, setUp]) => `- **${name}**: ${setUp}`)
      .join("\n"),
    ...sections,
  ].join("\n\n");
}

/** How many runs a result has, where that is not as many as others have. */
function fewerRuns({ subjects }: Result, usual: number): string {
  const runs = Math.min(usual, ...Object.values(subjects).map((summary) => summary.runs.length));
  return runs < usual ? `; ${runs === 1 ? "one run" : `${runs} runs`}` : "";
}

/** One chart a case is enough: its first figure. */
function charted(results: readonly Result[]): readonly Result[] {
  return results.filter((result) => results.find((one) => one.case === result.case) === result);
}
