import type { Finding } from "./verdict.js";

/** What was found, for people: a line for each invariant, then some of what breaks it. */
export function tableOf(findings: readonly Finding[], causes: ReadonlyMap<string, number>): string {
  const lines = findings.map(({ invariant, sentence, looked, broken }) => {
    const verdict = broken.length === 0 ? "holds" : `BROKEN ${broken.length} times`;
    return `${invariant.padEnd(4)} ${sentence.padEnd(56)} ${looked.toLocaleString("en").padStart(9)}  ${verdict}`;
  });
  const reasons = [...causes]
    .toSorted(([, one], [, other]) => other - one)
    .map(([cause, count]) => `${count.toLocaleString("en").padStart(9)}  delivered again because ${cause}`);
  const broken = findings.flatMap(({ invariant, broken: some }) =>
    some.slice(0, 5).map((one) => `${invariant}: ${one.slice(0, 500)}`),
  );
  return [...lines, "", ...reasons, ...(broken.length > 0 ? ["", ...broken] : [])].join("\n");
}
