// Builds dist/ anew from src/: the Lua sources as a module, then plain tsc.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { root, run, tool } from "./command.mjs";

rmSync(join(root, "dist"), { recursive: true, force: true });
process.exitCode =
  (await run(process.execPath, [join(root, "scripts", "lua-sources.mjs")])) ||
  (await tool("typescript", "tsc", ["-p", "tsconfig.build.json"]));
