import { dirname, join } from "node:path";
import { read } from "../source-files.js";

/** Targets of the links to files of this repository, as paths in it. */
export function linksOf(page: string): string[] {
  const prose = read(page).replace(/^```[\s\S]*?^```$/gm, "");
  return [...prose.matchAll(/\]\(([^)#\s]+)(?:#[^)\s]*)?\)/g)]
    .map(([, target = ""]) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => join(dirname(page), target).replaceAll("\\", "/"));
}
