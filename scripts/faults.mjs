// `npm run test:faults`: builds the run of mixed faults and its consumer processes, and runs it in this process. Arguments are
// handed on: `npm run test:faults -- --topology cluster --client ioredis --minutes 10 --seed 7`.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "vite";
import { root } from "./command.mjs";

// Of its own, so that several can run at once.
const folder = join(root, ".build", `faults-${process.pid}`);
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
for (const name of ["consumer", "main"]) {
  await build({
    configFile: false,
    logLevel: "error",
    ssr: { noExternal: true },
    build: {
      ssr: join(root, "test", "faults", "mixed", "programs", `${name}.ts`),
      outDir: folder,
      emptyOutDir: false,
      target: "node20",
      rolldownOptions: { output: { entryFileNames: `${name}.mjs` } },
    },
  });
}
await import(pathToFileURL(join(folder, "main.mjs")).href);
