import { readFileSync } from "node:fs";
import { conformanceCases, type Deviation, type PromiseNumber, promises } from "../../src/testing/conformance/index.js";
import type { CollectedEngine } from "./collected.js";

const contract = readFileSync(new URL("../../src/engine.ts", import.meta.url), "utf8");

/** The promises as the contract words them, by number: their first words and what follows. */
export function promisesOfContract(): Map<number, { title: string; text: string }> {
  const prose = contract
    .slice(contract.indexOf("/**"), contract.indexOf("*/"))
    .split("\n")
    .map((line) => line.replace(/^ \* ?/u, ""))
    .join("\n");
  const found = new Map<number, { title: string; text: string }>();
  for (const entry of prose.matchAll(/^ ?(\d+)\. \*\*(.+?)\.\*\* ([\s\S]*?)(?=\n ?\d+\. |\n\n)/gmu)) {
    const [, number = "", title = "", text = ""] = entry;
    found.set(Number(number), { title, text: text.replaceAll(/\s+/gu, " ").trim() });
  }
  return found;
}

/** The reference page on promises: each with its sentence, the engines that keep it, and the cases that show it. */
export function promisesPage(engines: readonly CollectedEngine[]): string {
  const lines = [
    "# Promises, and the cases that show them",
    "",
    "Every engine is held to the same conformance cases, published in `punctual/testing`. Below, each promise of the",
    "contract (`src/engine.ts`) stands with its cases, and after them the cases of operations beyond the promises. This page",
    "is made from the contract and the cases: `npx vitest run test/conformance/promises.test.ts -u` writes it anew.",
    "",
    "A promise holds as long as the store keeps the writes that it confirmed. _Kept_: the engine passes every case. _Kept (5)_: it",
    "passes 5, and the others need what it refuses with `unsupported`. _5 of 12_: it breaks the promise in some. _Refused_: every",
    "case needs what it refuses.",
    "",
    ...matrix(engines),
    "",
  ];
  for (const [number, { title, text }] of promisesOfContract()) {
    lines.push(`## ${number}. ${title}`, "", text, "");
    const cases = conformanceCases.filter((one) => one.promise === number);
    for (const { name } of cases) lines.push(`- ${name.slice(title.length + 2)}`);
    lines.push("");
  }
  lines.push("## Operations", "");
  const rest = conformanceCases.filter((one) => one.promise === undefined);
  const operations = [...new Set(rest.map((one) => one.operation))];
  for (const operation of operations) {
    lines.push(`### ${operation}`, "");
    for (const { name } of rest.filter((one) => one.operation === operation)) lines.push(`- ${name}`);
    lines.push("");
  }
  lines.push(
    "## Deviations",
    "",
    "Each of these cases runs on its engine and has to fail there: refused with `unsupported`, or with another answer than the contract's.",
    "",
  );
  for (const { engine, cases } of engines) lines.push(...deviationsOf(engine, cases));
  return `${lines.join("\n").trimEnd()}\n`;
}

/** The cases that an engine does not pass, by kind and reason. */
function deviationsOf(engine: string, cases: CollectedEngine["cases"]): string[] {
  const byReason = new Map<string, string[]>();
  for (const [name, deviation] of cases) {
    if (deviation === undefined) continue;
    const heading = headings[deviation.kind](deviation.because);
    byReason.set(heading, [...(byReason.get(heading) ?? []), name]);
  }
  if (byReason.size === 0) return [`### Of ${engine}`, "", "None.", ""];
  const sections = [...byReason].flatMap(([heading, names]) => [heading, "", ...names.map((name) => `- ${name}`), ""]);
  return [`### Of ${engine}`, "", ...sections];
}

const headings: Readonly<Record<Deviation["kind"], (because: string) => string>> = {
  refuses: (because) => `Refused, because ${because}:`,
  differs: (because) => `Because ${because}:`,
};

/** Which engine keeps which promise, in how many of its cases. */
export function matrix(engines: readonly CollectedEngine[]): string[] {
  const rows = [["Promise", ...engines.map(({ engine }) => `\`${engine}\``)]];
  for (const [key, title] of Object.entries(promises)) {
    const number = Number(key) as PromiseNumber;
    const names = conformanceCases.filter((one) => one.promise === number).map((one) => one.name);
    const kept = engines.map(({ cases }) => verdict(names.map((name) => cases.get(name))));
    rows.push([`${number}. ${title}`, ...kept]);
  }
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`;
  const [head = [], ...body] = rows;
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...body.map(line)];
}

/** How an engine keeps a promise, by its deviations in the cases of it. */
function verdict(deviations: readonly (Deviation | undefined)[]): string {
  const passed = deviations.filter((deviation) => deviation === undefined).length;
  if (passed === deviations.length) return "kept";
  if (deviations.some((deviation) => deviation?.kind === "differs")) return `${passed} of ${deviations.length}`;
  return passed === 0 ? "refused" : `kept (${passed})`;
}
