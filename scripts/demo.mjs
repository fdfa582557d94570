// `npm run demo`: builds the demo and runs it in this process, so that Ctrl-C reaches it once and its exit status is ours.
// Arguments are handed on: `npm run demo -- --json`.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root, tool } from "./command.mjs";

const status = await tool("typescript", "tsc", ["-p", join(root, "tsconfig.demo.json")]);
if (status === 0) await import(pathToFileURL(join(root, ".build", "demo", "demo", "main.js")).href);
else process.exitCode = status;
