// `npm run compare`: builds the demo and the engines, and runs the comparison in this process, so that Ctrl-C reaches it once
// and its exit status is ours. Arguments are handed on: `npm run compare -- --json`.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root, tool } from "./command.mjs";

const status = await tool("typescript", "tsc", ["-p", join(root, "tsconfig.demo.json")]);
if (status === 0) await import(pathToFileURL(join(root, ".build", "demo", "demo", "compare", "main.js")).href);
else process.exitCode = status;
