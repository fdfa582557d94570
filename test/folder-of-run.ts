import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { root } from "./source-files.js";

/** The variable that tells the processes of one run where they find what they share. */
const variable = "PUNCTUAL_RUN_FOLDER";

/** Makes the folder of a run, before its tests; each project of vitest calls it. */
export async function setup(): Promise<void> {
  if (process.env[variable] !== undefined) return;
  const parent = join(root, ".build");
  await mkdir(parent, { recursive: true });
  process.env[variable] = await mkdtemp(join(parent, "run-"));
}

export async function teardown(): Promise<void> {
  await rm(folderOfRun(), { recursive: true, force: true });
}

/** A folder that is there for one run of the tests, and the same in all of its processes. */
export function folderOfRun(): string {
  const folder = process.env[variable];
  if (folder === undefined) throw new Error(`${variable} is not set: run the tests by vitest, with its configuration.`);
  return folder;
}
