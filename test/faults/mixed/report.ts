import type { Figures } from "./figures.js";

/** What a run has shown, for people. */
export function reportOf(figures: Figures): string {
  const {
    messages,
    delivered,
    lost,
    early,
    lostByRedis,
    lossySeconds,
    lateness,
    duplicates,
    faults,
    failures,
    problems,
  } = figures;
  const kinds = Object.entries(faults).toSorted(([one], [other]) => one.localeCompare(other));
  const count = kinds.reduce((sum, [, kind]) => sum + kind.count, 0);
  return [
    `${headOf(figures)}, seed ${figures.seed}`,
    "",
    line("messages", messages),
    line("delivered", delivered),
    line("lost", lost),
    line("early", early),
    line(`forgotten by Redis in ${lossySeconds} s of failovers`, lostByRedis),
    line("faults", count),
    `  late while nothing was wrong: p50 ${lateness.p50} ms, p99 ${lateness.p99} ms, at most ${lateness.max} ms`,
    "",
    "  until everybody worked again           times     p50     max",
    ...kinds.map(
      ([name, { count: times, p50, max }]) =>
        `  ${name.padEnd(36)} ${String(times).padStart(7)} ${seconds(p50)} ${seconds(max)}`,
    ),
    "",
    "  delivered again because",
    ...Object.entries(duplicates).map(([cause, times]) => line(cause, times)),
    "",
    "  calls that failed",
    ...Object.entries(failures).map(([code, times]) => line(code, times)),
    "",
    ...Object.entries(problems).flatMap(([invariant, { count: times, sentences }]) => [
      `  ${invariant} is BROKEN ${times} times`,
      ...sentences.map((sentence) => `    ${sentence}`),
    ]),
    isRight(figures) ? "  I1 to I12 hold." : "  Something is broken.",
  ].join("\n");
}

/** Whether no invariant is broken. */
export function isRight({ problems }: Figures): boolean {
  return Object.keys(problems).length === 0;
}

function headOf({ topology, client, partitions, seconds: lasts }: Figures): string {
  const split = partitions === 1 ? "" : `, ${partitions} partitions`;
  return `${topology}, ${client}${split}, ${lasts} s`;
}

const line = (what: string, times: number) => `  ${what.padEnd(44)} ${times.toLocaleString("en").padStart(10)}`;
const seconds = (ms: number) => `${(ms / 1_000).toFixed(2)} s`.padStart(7);
