// `npm run test:chaos`: builds the chaos run and its child processes, and runs it in this process. Arguments are handed on:
// `npm run test:chaos -- --seconds 120 --messages 200000 --seed 7`.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "vite";
import { root } from "./command.mjs";

const folder = join(root, ".build", "chaos");
rmSync(folder, { recursive: true, force: true });
for (const name of ["producer", "consumer", "main"]) {
  await build({
    configFile: false,
    logLevel: "error",
    ssr: { noExternal: true },
    build: {
      ssr: join(root, "test", "chaos", "programs", `${name}.ts`),
      outDir: folder,
      emptyOutDir: false,
      target: "node20",
      rolldownOptions: { output: { entryFileNames: `${name}.mjs` } },
    },
  });
}
await import(pathToFileURL(join(folder, "main.mjs")).href);
