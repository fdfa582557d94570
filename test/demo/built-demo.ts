import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { root } from "../source-files.js";
import { onceARun } from "../support/once-a-run.js";

/** What a program that has ended said. */
export interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Where the demo and the comparison lie when they are built. */
export const builtDemo = join(root, ".build", "demo", "demo");

/**
 * Asks the script of the demo, or that of the comparison, for its help, once a run, and resolves to what it says. Each builds
 * both programs first, which others are spared by this; one after the other, for they write the same files.
 */
export async function helpOf(script: "demo" | "compare"): Promise<Ended> {
  if (script === "compare") await helpOf("demo");
  return onceARun(`${script}-help`, async () => {
    const program = spawn(process.execPath, [join(root, "scripts", `${script}.mjs`), "--help"], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    return endOf(program);
  });
}

/** Waits until a program that has just been started has ended. */
export async function endOf(program: ChildProcessByStdio<null, Readable, Readable>): Promise<Ended> {
  let [stdout, stderr] = ["", ""];
  program.stdout.on("data", (chunk) => (stdout += String(chunk)));
  program.stderr.on("data", (chunk) => (stderr += String(chunk)));
  const [status] = (await once(program, "close")) as [number | null];
  return { status, stdout, stderr };
}
