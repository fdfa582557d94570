import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { build } from "vite";

/**
 * Makes JavaScript of a TypeScript module and all that it imports, packages too, for child processes: Node 20 runs no
 * TypeScript, and finds no packages from where this lies.
 */
export async function bundle(entry: string): Promise<{ path: string } & AsyncDisposable> {
  const folder = await mkdtemp(join(tmpdir(), "punctual-bundle-"));
  const name = basename(entry).replace(/\.ts$/, ".mjs");
  await build({
    configFile: false,
    logLevel: "silent",
    ssr: { noExternal: true },
    build: { ssr: entry, outDir: folder, target: "node20", rolldownOptions: { output: { entryFileNames: name } } },
  });
  return {
    path: join(folder, name),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}
