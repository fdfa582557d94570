// Makes src/engines/redis/scripts/sources.generated.ts from the .lua files, so that nothing is read from disk at run time.
// A line `--- @include name` is replaced by snippets/name.lua. With --check it only compares and exits 1 when stale.
import { readdirSync, readFileSync, writeFileSync, existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const folder = new URL("../src/engines/redis/scripts/", import.meta.url);
const target = new URL("sources.generated.ts", folder);

const splice = (source, file) =>
  source.replace(/^--- @include ([a-z-]+)$/gm, (_, name) => {
    const snippet = new URL(`snippets/${name}.lua`, folder);
    if (!existsSync(snippet)) throw new Error(`${file} includes ${name}, but there is no snippets/${name}.lua`);
    return readFileSync(snippet, "utf8").trimEnd();
  });

const scripts = readdirSync(folder)
  .filter((file) => file.endsWith(".lua"))
  .sort()
  .map((file) => [file.slice(0, -".lua".length), splice(readFileSync(new URL(file, folder), "utf8"), file)]);

const generated = [
  "// Made by scripts/lua-sources.mjs from the .lua files in this folder; change those and run `npm run build`.",
  "/** The sources of all scripts, by the verb that each does. */",
  "export const sources = {",
  ...scripts.map(([name, source]) => `  ${JSON.stringify(name)}: ${JSON.stringify(source)},`),
  "} as const;",
  "",
].join("\n");

if (process.argv.includes("--check")) {
  if (!existsSync(target) || readFileSync(target, "utf8") !== generated) {
    console.error(
      `${fileURLToPath(target)} is older than the .lua files: run \`node scripts/lua-sources.mjs\` and commit it.`,
    );
    process.exit(1);
  }
} else writeFileSync(target, generated);
