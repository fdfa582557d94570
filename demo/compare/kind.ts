import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** What may become of messages that a crash meets: some are lost, or some come twice. */
export type Kind = "at most once" | "at least once";

/**
 * What an engine promises, by the page about it: by what is said before its first program, and of an option behind the name of
 * that. One without a page keeps the contract, which is at least once.
 */
export function kindOf(engine: string, option?: string): Kind {
  const page = `docs/reference/engines/${engine}.md`;
  const path = join(repository(), page);
  return existsSync(path) ? kindIn(readFileSync(path, "utf8"), page, option) : "at least once";
}

/** The same of the text of a page. */
export function kindIn(text: string, page: string, option?: string): Kind {
  const beginning = (text.split("```")[0] ?? "").replace(/\s+/gu, " ").replaceAll("*", "");
  const about = option === undefined ? beginning : beginning.slice(beginning.indexOf(`\`${option}\``));
  const [, word] = /at (most|least) once/iu.exec(about) ?? [];
  if (word === undefined || (option !== undefined && !beginning.includes(`\`${option}\``))) {
    const of = option === undefined ? "" : ` of \`${option}\``;
    throw new Error(
      `${page} has to say${of} before its first program whether it is "at most once" or "at least once".`,
    );
  }
  return word.toLowerCase() === "most" ? "at most once" : "at least once";
}

/** The folder of the repository, from wherever this was built to. */
function repository(): string {
  let folder = import.meta.dirname;
  while (!existsSync(join(folder, "package.json"))) folder = dirname(folder);
  return folder;
}
