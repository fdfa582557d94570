import { execFile } from "node:child_process";
import { join } from "node:path";
import { root } from "../source-files.js";
import { onceARun } from "./once-a-run.js";

/** Runs the compiler of TypeScript; resolves to what it has to say, which is nothing when all is well. */
export function compile(...args: string[]): Promise<string> {
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  return new Promise((resolve) => {
    execFile(process.execPath, [tsc, ...args], { cwd: root }, (error, stdout, stderr) => {
      resolve(error === null ? "" : `${stdout}${stderr}`);
    });
  });
}

/**
 * What `npm run build` puts into `dist`, in a folder of the run, for nobody to change: other tests may read `dist` itself
 * meanwhile.
 */
export function builtPackage(): Promise<string> {
  return onceARun("package", async (folder) => {
    const complaints = await compile("-p", "tsconfig.build.json", "--outDir", folder);
    if (complaints !== "") throw new Error(complaints);
    return folder;
  });
}
