import { bar } from "./bar.js";
import type { Lateness } from "./lateness.js";
import type { Figures } from "./ledger.js";
import { rounded, whole } from "./numbers.js";

/** The figures as the object that `--json` prints. */
export function jsonReport(engine: string, figures: Figures) {
  const { scheduled, delivered, retried, cancelled, lost, duplicated, early, lateness, seconds } = figures;
  return {
    engine,
    scheduled,
    delivered,
    retried,
    cancelled,
    lost,
    duplicated,
    early,
    latenessMs: {
      p50: rounded(lateness.percentile(50)),
      p99: rounded(lateness.percentile(99)),
      max: rounded(lateness.max),
    },
    seconds: rounded(seconds),
  };
}

/** The figures as a table and a histogram, for people. */
export function textReport(engine: string, figures: Figures): string {
  const { lateness } = figures;
  const rows: [string, string][] = [
    ["engine", engine],
    ["scheduled", whole(figures.scheduled)],
    ["delivered", whole(figures.delivered)],
    ["retried", whole(figures.retried)],
    ["cancelled", whole(figures.cancelled)],
    ["lost", whole(figures.lost)],
    ["duplicated", whole(figures.duplicated)],
    ["early", whole(figures.early)],
    ["lateness p50", milliseconds(lateness.percentile(50))],
    ["lateness p99", milliseconds(lateness.percentile(99))],
    ["lateness max", milliseconds(lateness.max)],
    ["messages/s", whole(Math.round(figures.delivered / figures.seconds))],
    ["seconds", figures.seconds.toFixed(2)],
  ];
  const labelWidth = Math.max(...rows.map(([label]) => label.length));
  const valueWidth = Math.max(...rows.map(([, value]) => value.length));
  const table = rows.map(([label, value]) => `  ${label.padEnd(labelWidth)}  ${value.padStart(valueWidth)}`);
  return [...table, "", "  lateness: start of the handler minus due time", ...histogram(lateness), ""].join("\n");
}

/** Was anything lost, duplicated or early? */
export function isClean({ lost, duplicated, early }: Figures): boolean {
  return lost === 0 && duplicated === 0 && early === 0;
}

/** Lower bounds of the bars, ms. */
const bounds = [0, 0.5, 1, 2, 3, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000];

/** One bar a line, from the lowest to the highest that is not empty; a bar that is not empty is never drawn empty. */
export function histogram(lateness: Lateness): string[] {
  const bars = bounds.map((from, index) => {
    const to = bounds[index + 1] ?? Infinity;
    return { from, to, count: lateness.countBetween(from, to) };
  });
  const last = bars.findLastIndex(({ count }) => count > 0);
  const most = Math.max(1, ...bars.map(({ count }) => count));
  return bars.slice(0, last + 1).map(({ from, to, count }) => {
    const range = to === Infinity ? `over ${from} ms` : `${from} – ${to} ms`;
    return `  ${range.padStart(16)}  ${bar(count / most)}  ${whole(count).padStart(9)}`;
  });
}

function milliseconds(value: number): string {
  return `${value.toFixed(1)} ms`;
}
