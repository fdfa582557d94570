import { bar } from "../bar.js";
import { rounded, whole } from "../numbers.js";
import type { Comparison } from "./run-subject.js";

/** The figures as the object that `--json` prints, one for each run. */
export function jsonComparison(comparison: Comparison) {
  const { subject, crash, figures, perSecond, spent } = comparison;
  const { scheduled, delivered, lost, duplicated, early, lateness } = figures;
  return {
    engine: subject,
    crash,
    scheduled,
    delivered,
    lost,
    duplicated,
    early,
    latenessMs: { p50: rounded(lateness.percentile(50)), p99: rounded(lateness.percentile(99)) },
    messagesPerSecond: Math.round(perSecond),
    // Null for an engine that has another server.
    commandsAMessage: spent === undefined ? null : rounded(spent.commandsAMessage),
    bytesAPendingMessage: spent === undefined ? null : Math.round(spent.bytesAPendingMessage),
    redisCpuSeconds: spent === undefined ? null : rounded(spent.cpuSeconds),
  };
}

/** Of an engine that has another server than a Redis. */
const unknown = "–";

const columns: readonly [title: string, of: (comparison: Comparison) => string][] = [
  ["engine", ({ subject }) => subject],
  ["messages", ({ figures }) => whole(figures.scheduled)],
  ["delivered", ({ figures }) => whole(figures.delivered)],
  ["lost", ({ figures }) => whole(figures.lost)],
  ["twice", ({ figures }) => whole(figures.duplicated)],
  ["early", ({ figures }) => whole(figures.early)],
  ["late p50", ({ figures }) => `${figures.lateness.percentile(50).toFixed(1)} ms`],
  ["late p99", ({ figures }) => `${figures.lateness.percentile(99).toFixed(1)} ms`],
  ["messages/s", ({ perSecond }) => whole(Math.round(perSecond))],
  ["commands", ({ spent }) => spent?.commandsAMessage.toFixed(2) ?? unknown],
  ["bytes", ({ spent }) => (spent === undefined ? unknown : whole(Math.round(spent.bytesAPendingMessage)))],
  ["Redis CPU", ({ spent }) => (spent === undefined ? unknown : `${spent.cpuSeconds.toFixed(2)} s`)],
];

/** The figures of several engines as a table. */
export function comparisonTable(comparisons: readonly Comparison[]): string {
  return padded(comparisons)
    .map((row) => `  ${row.join("  ").trimEnd()}`)
    .join("\n");
}

/** The same as a table of Markdown, as the formatter would have it. */
export function markdownTable(comparisons: readonly Comparison[]): string {
  const [titles = [], ...rows] = padded(comparisons);
  const rule = titles.map(({ length }, column) => (column === 0 ? "-".repeat(length) : `${"-".repeat(length - 1)}:`));
  return [titles, rule, ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");
}

/** The titles and the rows, each cell as wide as its column: names to the left, figures to the right. */
function padded(comparisons: readonly Comparison[]): string[][] {
  const rows = [columns.map(([title]) => title), ...comparisons.map((one) => columns.map(([, of]) => of(one)))];
  const widths = columns.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const pad = (cell: string, column: number) =>
    column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0);
  return rows.map((row) => row.map(pad));
}

/** How late 99 of 100 deliveries were at most, a bar for each engine. */
export function latenessChart(comparisons: readonly Comparison[]): string {
  const late = comparisons.map(({ figures }) => figures.lateness.percentile(99));
  const most = Math.max(1, ...late);
  const width = Math.max(...comparisons.map(({ subject }) => subject.length));
  return comparisons
    .map(({ subject }, place) => {
      const value = late[place] ?? 0;
      return `  ${subject.padEnd(width)}  ${bar(value / most)}  ${value.toFixed(1)} ms`;
    })
    .join("\n");
}
