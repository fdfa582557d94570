// `npm run check`: the one command that decides. All static checks first, each of them even when one before it failed, so
// that one run tells everything; then the tests.
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { npm, root, run, tool } from "./command.mjs";

const script = (name, ...args) => run(process.execPath, [join(root, "scripts", name), ...args]);
const packed = mkdtempSync(join(tmpdir(), "punctual-pack-"));
const tarball = () => {
  const file = readdirSync(packed).find((name) => name.endsWith(".tgz"));
  return file === undefined ? "nothing-was-packed.tgz" : join(packed, file);
};

const folders = ["src", "test", "scripts", "demo", "examples", "bench"].filter((folder) =>
  existsSync(join(root, folder)),
);

/** What is checked, in order: a name for the report, and what resolves to 0 when it holds. */
const checks = {
  "generated Lua sources are fresh": () => script("lua-sources.mjs", "--check"),
  types: () => tool("typescript", "tsc", ["--noEmit", "-p", "."]),
  "types of the benchmark": () => tool("typescript", "tsc", ["--noEmit", "-p", "bench"]),
  lint: () => tool("oxlint", "oxlint", ["--type-aware", "--deny-warnings", ...folders]),
  format: () => tool("oxfmt", "oxfmt", ["--check", "."]),
  "unused files, exports and dependencies": () => tool("knip", "knip", []),
  build: () => script("build.mjs"),
  "API reports are fresh": () => script("api-reports.mjs", "--check"),
  "package contents": () => npm(["pack", "--ignore-scripts", "--silent", "--pack-destination", packed]),
  "package metadata": () => tool("publint", "publint", ["run", tarball(), "--strict"]),
  "published types": () => tool("@arethetypeswrong/cli", "attw", [tarball(), "--profile", "esm-only"]),
};

const failed = [];
for (const [name, check] of Object.entries(checks)) {
  console.error(`\n— ${name}`);
  if ((await check()) !== 0) failed.push(name);
}
rmSync(packed, { recursive: true, force: true });

if (failed.length > 0) {
  console.error(`\nStatic checks failed: ${failed.join("; ")}. The tests did not run.`);
  process.exitCode = 1;
} else {
  console.error("\n— tests");
  process.exitCode = await npm(["test"]);
}
