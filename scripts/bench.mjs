// `npm run bench`: builds the benchmark and the processes that measure and consume, and runs it in this process. Arguments are handed on:
// `npm run bench -- --only drain --runs 5`.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "vite";
import { root } from "./command.mjs";

// Of its own, so that several can run at once; within the workspace, where its packages are found.
const folder = join(root, "bench", ".build", String(process.pid));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
await build({
  configFile: false,
  logLevel: "error",
  build: {
    ssr: true,
    outDir: folder,
    target: "node20",
    sourcemap: true,
    rolldownOptions: {
      input: ["main", "measure", "consume"].map((name) => join(root, "bench", `${name}.ts`)),
      output: { entryFileNames: "[name].mjs", chunkFileNames: "[name]-[hash].mjs" },
    },
  },
});
await import(pathToFileURL(join(folder, "main.mjs")).href);
