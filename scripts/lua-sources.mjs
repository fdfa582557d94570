// Makes a sources.generated.ts in each folder of src that has .lua files, so that nothing is read from disk at run time.
// A line `--- @include name` is replaced by snippets/name.lua of that folder or, where there is none, of src/scripting.
// With --check it only compares and exits 1 when one is stale.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const source = new URL("../src/", import.meta.url);
const shared = new URL("scripting/snippets/", source);

const folders = readdirSync(source, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith(".lua") && !entry.parentPath.endsWith("snippets"))
  .map((entry) => entry.parentPath);

const splice = (folder, file) =>
  readFileSync(new URL(file, folder), "utf8").replace(/^--- @include ([a-z-]+)$/gm, (_, name) => {
    const snippet = [new URL(`snippets/${name}.lua`, folder), new URL(`${name}.lua`, shared)].find(existsSync);
    if (snippet === undefined) throw new Error(`${file} includes ${name}, but there is no snippets/${name}.lua`);
    return readFileSync(snippet, "utf8").trimEnd();
  });

let stale = 0;
for (const path of [...new Set(folders)].sort()) {
  const folder = new URL(`file://${path}/`);
  const target = new URL("sources.generated.ts", folder);
  const scripts = readdirSync(folder)
    .filter((file) => file.endsWith(".lua"))
    .sort()
    .map((file) => [file.slice(0, -".lua".length), splice(folder, file)]);
  const generated = [
    "// Made by scripts/lua-sources.mjs from the .lua files in this folder; change those and run `npm run build`.",
    "/** The sources of all scripts, by the verb that each does. */",
    "export const sources = {",
    ...scripts.map(([name, text]) => `  ${JSON.stringify(name)}: ${JSON.stringify(text)},`),
    "} as const;",
    "",
  ].join("\n");
  if (!process.argv.includes("--check")) writeFileSync(target, generated);
  else if (!existsSync(target) || readFileSync(target, "utf8") !== generated) {
    stale += 1;
    const name = fileURLToPath(target);
    console.error(`${name} is older than the .lua files: run \`node scripts/lua-sources.mjs\` and commit it.`);
  }
}
process.exitCode = stale > 0 ? 1 : 0;
