import { filesUnder, read } from "../source-files.js";

/** A fenced block of code in a page. */
export interface CodeBlock {
  /** The page and the line at which the code starts, such as `docs/how-to/close.md:9`. */
  readonly place: string;
  /** The same as the name of a file without ending. */
  readonly name: string;
  readonly language: string;
  readonly code: string;
}

/** The pages that this project publishes, the generated ones apart. */
export function pages(): string[] {
  return ["README.md", "CHANGELOG.md", ...filesUnder("docs", /\.md$/)].filter((page) => !page.startsWith("docs/api/"));
}

/** All fenced blocks of a page, in order. */
export function codeBlocks(page: string): CodeBlock[] {
  const text = read(page);
  return [...text.matchAll(/^```([a-z]*)[^\n]*\n([\s\S]*?)^```$/gm)].map((match) => {
    const [, language = "", code = ""] = match;
    const line = text.slice(0, match.index).split("\n").length + 1;
    const name = `${page.replace(/\.md$/, "").replaceAll("/", "-")}-${line}`;
    return { place: `${page}:${line}`, name, language, code };
  });
}

/** The programs in examples/, each as a block. */
export function examples(): CodeBlock[] {
  return filesUnder("examples", /\.ts$/).map((place) => ({
    place,
    name: place.replace(/\.ts$/, "").replaceAll("/", "-"),
    language: "ts",
    code: read(place),
  }));
}

/** The file that a block is to be saved as, when its first line says so: it is one of several that belong together. */
export function fileName({ code }: CodeBlock): string | undefined {
  return /^\/\/ ([a-z.-]+\.[a-z]+)\n/.exec(code)?.[1];
}

/** A block that imports or requires something is a complete program; others are parts of one. */
export function isProgram(block: CodeBlock): boolean {
  const { language, code } = block;
  if (fileName(block) !== undefined) return false;
  return (language === "ts" && /^import /m.test(code)) || (language === "js" && /\brequire\(/.test(code));
}

/**
 * Whether it can run on its own: it needs nothing but the package, its clients and Node. Tests of test runners need those, and
 * the program on RabbitMQ is run where there is one.
 */
export function canRun(block: CodeBlock): boolean {
  const specifiers = [...block.code.matchAll(/(?:\bfrom |\brequire\(|^import )"([^"]+)"/gm)].map(
    ([, name = ""]) => name,
  );
  return (
    isProgram(block) &&
    specifiers.every((name) => /^(punctual($|\/(?!engines\/rabbitmq$))|node:|@redis\/client$|ioredis$)/.test(name))
  );
}

/** What a program says that it prints: the comments behind its calls of `console.log`. */
export function announcedOutput({ code }: CodeBlock): string[] {
  return [...code.matchAll(/console\.log\(.*\);? \/\/ (.+)$/gm)].map(([, text = ""]) => text);
}
