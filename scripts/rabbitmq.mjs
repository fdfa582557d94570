// `npm run test:rabbitmq`: builds a run on a private RabbitMQ and runs it in this process. `npm run test:rabbitmq -- --messages
// 20000 --seconds 60` restarts the broker in the middle; `npm run test:rabbitmq -- ladder` measures what the ladder costs.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "vite";
import { root } from "./command.mjs";

const name = process.argv[2] === "ladder" ? "ladder" : "main";
const folder = join(root, ".build", "rabbitmq");
rmSync(folder, { recursive: true, force: true });
await build({
  configFile: false,
  logLevel: "error",
  ssr: { noExternal: true },
  build: {
    ssr: join(root, "test", "rabbitmq", "programs", `${name}.ts`),
    outDir: folder,
    target: "node20",
    rolldownOptions: { output: { entryFileNames: `${name}.mjs` } },
  },
});
await import(pathToFileURL(join(folder, `${name}.mjs`)).href);
