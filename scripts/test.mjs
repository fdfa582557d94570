// `npm test`: finds or installs redis-server, then runs vitest. Arguments are handed on: `npm test -- test/conformance`.
import { join } from "node:path";
import { root, run, tool } from "./command.mjs";

process.exitCode =
  (await run(process.execPath, [join(root, "scripts", "setup.mjs")])) ||
  (await tool("vitest", "vitest", ["run", ...process.argv.slice(2)]));
