import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Ratios } from "./guard.js";

/** The ratios that are kept in the repository. Fails with a sentence when there are none. */
export async function keptRatios(): Promise<Ratios> {
  const text = await readFile(guardFile(), "utf8").catch((cause: unknown) => {
    throw new Error("No ratios are kept yet in bench/guard.json; keep some with --smoke --keep", { cause });
  });
  return JSON.parse(text) as Ratios;
}

/** Keeps ratios, to three digits, for runs to come. */
export async function keepRatios(ratios: Ratios): Promise<void> {
  const short = (_: string, value: unknown) => (typeof value === "number" ? Number(value.toPrecision(3)) : value);
  await writeFile(guardFile(), `${JSON.stringify(ratios, short, 2)}\n`);
}

/** It lies in the workspace, wherever in it this was built to. */
function guardFile(): string {
  let folder = import.meta.dirname;
  while (!existsSync(join(folder, "package.json"))) folder = dirname(folder);
  return join(folder, "guard.json");
}
