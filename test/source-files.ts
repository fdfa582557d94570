import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of the repository. */
export const root = fileURLToPath(new URL("..", import.meta.url));

const notOurs = new Set(["node_modules", "dist", ".build", "coverage", ".git"]);

/** The text of a file; the path is relative to the repository and has slashes on every system. */
export function read(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

/** All files under a folder of the repository whose path matches, sorted; none when there is no such folder. */
export function filesUnder(folder: string, pattern: RegExp): string[] {
  const found: string[] = [];
  const walk = (current: string) => {
    for (const entry of readdirSync(current, { withFileTypes: true })) {
      if (notOurs.has(entry.name)) continue;
      const path = join(current, entry.name);
      if (entry.isDirectory()) walk(path);
      else found.push(relative(root, path).split(sep).join("/"));
    }
  };
  if (readdirSync(root).includes(folder.split("/")[0] ?? folder)) walk(join(root, folder));
  return found.filter((path) => pattern.test(path)).sort();
}

/** Source text without its comments, so that what they mention is not taken for code. */
export function withoutComments(source: string): string {
  return source.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|[\s;{}(,])\/\/[^\n]*/g, "$1");
}

export interface Import {
  /** As written. */
  readonly specifier: string;
  /** A relative one as a path in the repository (`src/clock.ts`), a package by its name. */
  readonly target: string;
  readonly kind: "static" | "type" | "dynamic";
}

/** What a source file imports and re-exports. */
export function importsOf(path: string): Import[] {
  const source = withoutComments(read(path));
  const imports: Import[] = [];
  const add = (specifier: string | undefined, kind: Import["kind"]) => {
    if (specifier === undefined) return;
    const target = specifier.startsWith(".")
      ? join(dirname(path), specifier).split(sep).join("/").replace(/\.js$/, ".ts")
      : specifier;
    imports.push({ specifier, target, kind });
  };
  for (const [, type, specifier] of source.matchAll(
    /^\s*(?:import|export)\s+(type\s)?[^"';]*?\bfrom\s*["']([^"']+)["']/gm,
  )) {
    add(specifier, type === undefined ? "static" : "type");
  }
  for (const [, specifier] of source.matchAll(/^\s*import\s*["']([^"']+)["']/gm)) add(specifier, "static");
  for (const [, specifier] of source.matchAll(/\bimport\(\s*["']([^"']+)["']/g)) add(specifier, "dynamic");
  return imports;
}
