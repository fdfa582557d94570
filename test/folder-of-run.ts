import { rmSync } from "node:fs";
import { mkdir, mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { root } from "./source-files.js";

/** The variable that tells the processes of one run where they find what they share. */
const variable = "PUNCTUAL_RUN_FOLDER";

/** Makes the folder of a run, before its tests; each project of vitest calls it. Goes when this process does: only then is no test left. */
export async function setup(): Promise<void> {
  if (process.env[variable] !== undefined) return;
  const parent = join(root, ".build");
  await mkdir(parent, { recursive: true });
  const folder = await mkdtemp(join(parent, "run-"));
  process.env[variable] = folder;
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
}

/** A folder that is there for one run of the tests, and the same in all of its processes. */
export function folderOfRun(): string {
  const folder = process.env[variable];
  if (folder === undefined) throw new Error(`${variable} is not set: run the tests by vitest, with its configuration.`);
  return folder;
}
