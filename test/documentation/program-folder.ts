import { type ChildProcessByStdio, spawn } from "node:child_process";
import { copyFile, cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { pathToFileURL } from "node:url";
import { folderOfRun } from "../folder-of-run.js";
import { root } from "../source-files.js";
import { builtPackage, compile } from "../support/compiler.js";
import { type CodeBlock, fileName } from "./code-blocks.js";

const folder = join(folderOfRun(), "documentation");
const package_ = join(folder, "node_modules", "punctual");
const names = join(root, "test", "documentation", "names");

/**
 * Lays the programs of the pages into a folder where `punctual` is installed as its users have it, and checks their types.
 * Resolves to the complaints of the compiler, with the places in the pages.
 */
export async function compilePrograms(blocks: readonly CodeBlock[]): Promise<string> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(package_, { recursive: true });
  await cp(await builtPackage(), join(package_, "dist"), { recursive: true });
  await copyFile(join(root, "package.json"), join(package_, "package.json"));
  await writeFile(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
  await writeFile(
    join(folder, "tsconfig.json"),
    JSON.stringify({
      extends: join(root, "tsconfig.json"),
      compilerOptions: { noEmit: false, rootDir: ".", outDir: "out", paths: {} },
      include: ["./*.ts", `${names}.d.ts`],
    }),
  );
  await mkdir(join(folder, "out"));
  for (const { name, language, code } of blocks) {
    await writeFile(language === "ts" ? join(folder, `${name}.ts`) : join(folder, "out", `${name}.cjs`), code);
  }
  const found = await compile("-p", join(folder, "tsconfig.json"));
  return blocks.reduce((text, { name, place }) => text.replaceAll(`${name}.ts`, `${place} plus `), found);
}

/** Saves blocks under the names that they give themselves, into an empty project beside the programs; resolves to its path. */
export async function saveProject(blocks: readonly CodeBlock[]): Promise<string> {
  const project = join(folder, "project");
  await mkdir(project);
  await writeFile(join(project, "package.json"), JSON.stringify({ private: true }));
  for (const block of blocks) await writeFile(join(project, fileName(block) ?? block.name), block.code);
  return project;
}

/** The address that all pages use. Nothing else in them may be a Redis, or a test would write to a server of somebody. */
const printedUrl = "redis://127.0.0.1:6379";

/** Starts a compiled program, as it is printed but for the address of Redis. */
export async function startProgram(
  { name, language, code, place }: CodeBlock,
  url: string,
): Promise<ChildProcessByStdio<null, Readable, Readable>> {
  if (/(rediss?|unix):\/\//.test(code.replaceAll(`"${printedUrl}"`, ""))) {
    throw new Error(`${place} uses a Redis other than ${printedUrl}.`);
  }
  const file = join(folder, "out", `${name}.${language === "ts" ? "js" : "cjs"}`);
  await writeFile(file, (await readFile(file, "utf8")).replaceAll(printedUrl, url));
  return spawn(process.execPath, ["--import", pathToFileURL(`${names}.mjs`).href, file], {
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 15_000,
    killSignal: "SIGKILL",
  });
}
