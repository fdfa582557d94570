import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { cp, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { transform } from "esbuild";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type RedisServer, startRedisServer } from "../src/testing/redis-server.js";
import { pageScript, type Step } from "./documentation/page-script.js";
import { folderOfRun } from "./folder-of-run.js";
import { read, root } from "./source-files.js";
import { builtPackage, compile } from "./support/compiler.js";

const page = "docs/tutorial/unpaid-orders.md";
const folder = join(folderOfRun(), "tutorial");
/** What this test has done in another way before it begins. */
const installing = /^(mkdir|cd) unpaid-orders$|^npm (init -y|pkg set type=module|install punctual )/;
const printedUrl = "redis://127.0.0.1:6379";

let server: RedisServer;
let consumer: { readonly program: ChildProcess; output: string } | undefined;

beforeAll(async () => {
  await rm(folder, { recursive: true, force: true });
  const punctual = join(folder, "node_modules", "punctual");
  await mkdir(punctual, { recursive: true });
  await writeFile(join(punctual, "package.json"), read("package.json"));
  await writeFile(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
  await writeFile(
    join(folder, "tsconfig.json"),
    JSON.stringify({
      extends: join(root, "tsconfig.json"),
      compilerOptions: { paths: {} },
      include: ["./*.ts"],
    }),
  );
  [server] = await Promise.all([
    startRedisServer(),
    builtPackage().then((dist) => cp(dist, join(punctual, "dist"), { recursive: true })),
  ]);
}, 60_000);
afterAll(async () => {
  consumer?.program.kill("SIGKILL");
  await server.stop();
});

it("The tutorial shows in each step what the reader of it sees.", { timeout: 90_000 }, async () => {
  const seen: Step[] = [];
  const expected: Step[] = [];
  let here: string[] = [];
  let ofConsumer: string[] = [];

  for (const step of pageScript(page)) {
    if (step.kind === "save") await save(step.file, step.code);
    else if (step.kind === "run") here.push(...(await run(step.command)));
    else if (step.kind === "press Ctrl-C") {
      seen.push({ kind: "see", where: "consumer", lines: (await endConsumer()).trimEnd().split("\n") });
      expected.push({ kind: "see", where: "consumer", lines: ofConsumer });
      ofConsumer = [];
    } else if (step.where === "consumer") {
      ofConsumer.push(...step.lines);
      await waitForConsumer(ofConsumer.length);
    } else {
      seen.push({ ...step, lines: here });
      expected.push(step);
      here = [];
    }
  }

  expect(await compile("-p", folder)).toBe("");
  expect(seen.length).toBeGreaterThan(0);
  expect(seen).toEqual(expected);
  expect(consumer).toBeUndefined();
});

/**
 * Saves a program with the Redis of this test in place of the reader's, and translates it as `npx tsx` does, which has to be
 * downloaded. The types of all are checked in the end, and before one of them is saved anew.
 */
async function save(file: string, code: string): Promise<void> {
  const path = join(folder, file);
  const complaints = existsSync(path) ? await compile("-p", folder) : "";
  expect(complaints).toBe("");
  const ours = code.replaceAll(printedUrl, server.url);
  await writeFile(path, ours);
  await writeFile(path.replace(/\.ts$/, ".js"), (await transform(ours, { loader: "ts" })).code);
}

/** Runs one line of the page; a consumer runs on, so it has printed nothing yet. */
async function run(command: string): Promise<string[]> {
  const [, program, args] = /^npx tsx ([a-z]+)\.ts ?(.*)$/.exec(command) ?? [];
  if (program === undefined || args === undefined) {
    if (installing.test(command)) return [];
    throw new Error(`${page} says to run \`${command}\`, which this test does not know.`);
  }
  const child = spawn(process.execPath, [`${program}.js`, ...args.split(" ").filter(Boolean)], {
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => {
    output += String(chunk);
    if (consumer?.program === child) consumer.output = output;
  });
  if (program === "consume") {
    if (consumer) throw new Error(`${page} starts a second consumer where one runs.`);
    consumer = { program: child, output };
    return [];
  }
  expect(await once(child, "close")).toEqual([0, null]);
  return output.trimEnd().split("\n");
}

/** Until the consumer has printed this many lines. Events of its output, so that nothing is polled. */
async function waitForConsumer(lines: number): Promise<void> {
  const stdout = consumer?.program.stdout;
  if (!consumer || !stdout) throw new Error(`${page} shows what a consumer prints where none runs.`);
  while (consumer.output.split("\n").length <= lines) {
    await once(stdout, "data", { signal: AbortSignal.timeout(30_000) });
  }
}

/** What Ctrl-C does, and all that the consumer has printed. */
async function endConsumer(): Promise<string> {
  if (!consumer) throw new Error(`${page} says Ctrl-C where no consumer runs.`);
  const { program } = consumer;
  const ended = once(program, "close");
  program.kill("SIGINT");
  expect(await ended).toEqual([0, null]);
  const { output } = consumer;
  consumer = undefined;
  return output;
}
