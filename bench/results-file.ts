import { readFile, writeFile } from "node:fs/promises";
import type { Results } from "./results.js";

/** Digits of a number that mean something, and more. */
const digits = 6;

/** Results as they are kept: numbers to a few digits, so that tables are the same whether they were made before or after. */
export function asKept(results: Results): Results {
  return JSON.parse(textOf(results)) as Results;
}

export async function keepResults(file: string, results: Results): Promise<void> {
  await writeFile(file, textOf(results));
}

export async function keptResults(file: string): Promise<Results> {
  return JSON.parse(await readFile(file, "utf8")) as Results;
}

/** As the formatter would have it: numbers side by side, the rest one below the other. */
export function textOf(results: Results): string {
  const short = (_: string, value: unknown) => (typeof value === "number" ? Number(value.toPrecision(digits)) : value);
  const text = JSON.stringify(results, short, 2);
  return `${text.replaceAll(/\[\n\s+([-+\d.e,\s]+?)\s+\]/gu, (_, numbers: string) => `[${numbers.replaceAll(/\s+/gu, " ")}]`)}\n`;
}
