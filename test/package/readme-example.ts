import { read } from "../source-files.js";

/** What the README leaves to its reader. */
const leftToReader = `
async function cancelIfUnpaid(orderId: string): Promise<void> {
  console.log(orderId);
}
`;

/** The first example of the README as a program, with the URL of a Redis that is there, and a last line that says so. */
export function readmeExample(url: string): string {
  const block = /^```ts\n([\s\S]*?)^```$/m.exec(read("README.md"))?.[1];
  if (block === undefined) throw new Error("README.md has no block of TypeScript");
  const program = block.replace(/redis:\/\/127\.0\.0\.1:6379/, url);
  if (program === block) throw new Error("The README's example does not connect to redis://127.0.0.1:6379");
  const left = /function cancelIfUnpaid|const cancelIfUnpaid/.test(program) ? "" : leftToReader;
  return `${program}${left}console.log("example ended");\n`;
}

/** The same without await at the top level, which CommonJS does not know: imports first, the rest in a function. */
export function inFunction(program: string): string {
  const imports = program.match(/^import [^;]*;$/gm) ?? [];
  const rest = imports.reduce((text, line) => text.replace(line, ""), program);
  return `${imports.join("\n")}\nasync function main(): Promise<void> {${rest}}\nvoid main();\n`;
}
