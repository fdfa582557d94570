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
export function headingOf({ title, figure }: Result): string {
  const name = figure.name === "rate" ? "" : `, ${figure.name}`;
  return `${title}${name}, ${figure.unit}${figure.better === "less" ? " (less is better)" : ""}`;
}

/** The results as tables for a terminal. */
export function textTables(results: readonly Result[]): string {
  const tableOf = (result: Result) => padded(result).map((row) => `  ${row.join("  ")}`.trimEnd());
  return results.map((result) => `${headingOf(result)}\n\n${tableOf(result).join("\n")}`).join("\n\n");
}

/** A result as a table of Markdown, as the formatter would have it. */
export function markdownTable(result: Result): string {
  const [titles = [], ...rows] = padded(result);
  const rule = titles.map(({ length }, at) => (at === 0 ? "-".repeat(length) : `${"-".repeat(length - 1)}:`));
  return [titles, rule, ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");
}

/** Titles and rows, each cell as wide as its column: names to the left, figures to the right. */
function padded(result: Result): string[][] {
  const rows = [[...columns], ...rowsOf(result)];
  const widths = columns.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  return rows.map((row) =>
    row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))),
  );
}
