import type { Result } from "./results.js";

/** A value for people: to three digits, and whole from 100 on. */
export function amount(value: number): string {
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString("en");
  return Number(value.toPrecision(3)).toString();
}

/** The columns of a result's table. */
const columns = ["subject", "median", "min", "max", "punctual is … times as good"] as const;

/** A row for each subject. */
function rowsOf({ subjects, ratios }: Result): string[][] {
  return Object.entries(subjects).map(([name, { median, min, max }]) => {
    const ratio = ratios[name];
    return [name, amount(median), amount(min), amount(max), ratio === undefined ? "" : amount(ratio)];
  });
}

/** A heading that says what is counted. */
export function headingOf(result: Result): string {
  const name = result.figure.name === "rate" ? "" : `${result.figure.name}, `;
  return `${result.title}, ${name}${unitOf(result)}`;
}

/** The unit of a result, and which way is good. */
export function unitOf({ figure }: Result): string {
  return `${figure.unit}${figure.better === "less" ? " (less is better)" : ""}`;
}

/** The results as tables for a terminal. */
export function textTables(results: readonly Result[]): string {
  const tableOf = (result: Result) => padded(tableRows(result)).map((row) => `  ${row.join("  ")}`.trimEnd());
  return results.map((result) => `${headingOf(result)}\n\n${tableOf(result).join("\n")}`).join("\n\n");
}

/** A result as a table of Markdown. */
export function markdownTable(result: Result): string {
  return asMarkdown(tableRows(result));
}

/** The medians of several results, a row each, for these subjects; a dash where one took no part. */
export function overviewTable(results: readonly Result[], names: readonly string[]): string {
  const rows = results.map((result) => [
    headingOf(result),
    ...names.map((name) => {
      const summary = result.subjects[name];
      return summary === undefined ? "–" : amount(summary.median);
    }),
  ]);
  return asMarkdown([["median", ...names], ...rows]);
}

function tableRows(result: Result): string[][] {
  return [[...columns], ...rowsOf(result)];
}

/** As the formatter would have it. */
function asMarkdown(rows: readonly string[][]): string {
  const [titles = [], ...others] = padded(rows);
  const rule = titles.map(({ length }, at) => (at === 0 ? "-".repeat(length) : `${"-".repeat(length - 1)}:`));
  return [titles, rule, ...others].map((row) => `| ${row.join(" | ")} |`).join("\n");
}

/** Each cell as wide as its column: names to the left, figures to the right. */
function padded(rows: readonly string[][]): string[][] {
  const [titles = []] = rows;
  const widths = titles.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  return rows.map((row) =>
    row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))),
  );
}
