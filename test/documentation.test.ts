import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { memoryEngine } from "../src/engines/memory/engine.js";
import { redisEngine } from "../src/engines/redis/engine.js";
import { errorCodes } from "../src/errors.js";
import { Queue } from "../src/index.js";
import { type RedisServer, startRedisServer } from "../src/testing/redis-server.js";
import {
  announcedOutput,
  canRun,
  codeBlocks,
  examples,
  fileName,
  isProgram,
  pages,
} from "./documentation/code-blocks.js";
import { linksOf } from "./documentation/links.js";
import { compilePrograms, saveProject, startProgram } from "./documentation/program-folder.js";
import { read, root } from "./source-files.js";

const programs = [...pages().flatMap(codeBlocks), ...examples()].filter(isProgram);
const endless = (code: string) => code.includes('"SIGTERM"');

let server: RedisServer;
let complaints: string;

beforeAll(async () => {
  [server, complaints] = await Promise.all([startRedisServer(), compilePrograms(programs)]);
}, 60_000);
afterAll(() => server.stop());

describe("The programs in the pages, and the examples,", () => {
  it("have the right types.", () => {
    expect(complaints).toBe("");
  });

  const running = programs.filter((block) => canRun(block) && !endless(block.code));

  it("include the example of the README.", () => {
    expect(running[0]?.place).toMatch(/^README\.md:/);
    expect(running[0]?.code).toMatch(/orders\.cancel\("order:A1"\)/);
  });

  it.each(running)("$place runs as printed and prints what it says.", async (block) => {
    const program = await startProgram(block, server.url);
    const [output, errors, status] = await Promise.all([text(program.stdout), text(program.stderr), ended(program)]);
    expect(errors).toBe("");
    expect(status).toBe(0);
    // A page that says nothing of what a program prints may leave it open.
    const announced = announcedOutput(block);
    expect(announced.length > 0 ? output.trimEnd().split("\n") : []).toEqual(announced);
  });

  it("The one on closing ends with SIGTERM, and has then acknowledged what it worked on.", async () => {
    const block = programs.find(({ code }) => endless(code));
    if (block === undefined) throw new Error("No page shows how to end on SIGTERM.");
    const program = await startProgram(block, server.url);
    const exit = ended(program);
    await using engine = redisEngine({ url: server.url });
    const reminders = new Queue<{ to: string }>("reminders", { engine });
    const called = new Promise<string>((resolve) => program.stdout.once("data", (chunk) => resolve(String(chunk))));
    await reminders.schedule({ to: "Ada" }, { delay: 0 });
    expect(await called).toBe("sendReminder Ada\n");
    program.kill("SIGTERM");
    expect(await exit).toBe(0);
    expect(await reminders.counts()).toMatchObject({ scheduled: 0, due: 0, leased: 0, dead: 0 });
  });
});

describe("The page on CommonJS and Jest", () => {
  it("shows a way out for Jest that works as printed.", async () => {
    const files = codeBlocks("docs/how-to/commonjs-and-jest.md").filter((block) => fileName(block) !== undefined);
    expect(files.map(fileName)).toEqual(["esm-to-cjs.js", "jest.config.js", "orders.test.js"]);
    const cwd = await saveProject(files);
    const jest = spawn(process.execPath, [join(root, "node_modules/jest/bin/jest.js")], { cwd });
    const [output, status] = await Promise.all([text(jest.stderr), ended(jest)]);
    expect(output).toMatch(/Tests: +1 passed, 1 total/);
    expect(status).toBe(0);
  });
});

describe("The page on errors", () => {
  const rows = [...read("docs/reference/errors.md").matchAll(/^\| `([a-z-]+)` +\| (.+?) +\| (\d+) +\| (\d+) +\|$/gm)];

  it("has the codes, meanings and statuses of src/errors.ts, in its order, and no others.", () => {
    expect(rows.map(([, code, meaning, http, exit]) => [code, meaning, Number(http), Number(exit)])).toEqual(
      Object.entries(errorCodes).map(([code, entry]) => [code, entry.meaning, entry.httpStatus, entry.exitStatus]),
    );
  });
});

describe("Links", () => {
  const linking = [...pages(), "CONTRIBUTING.md", "SECURITY.md"].filter((page) => existsSync(join(root, page)));

  it.each(linking)("%s links to nothing that is not there.", (page) => {
    expect(linksOf(page).filter((target) => !existsSync(join(root, target)))).toEqual([]);
  });

  it("docs/README.md leads to every page, to decisions through the list of them.", () => {
    const all = pages().filter((page) => page.startsWith("docs/") && page !== "docs/README.md");
    const linked = [...linksOf("docs/README.md"), ...linksOf("docs/decisions/README.md")];
    expect(all.filter((page) => !linked.includes(page))).toEqual([]);
  });
});

describe("The README", () => {
  it("names every method of Queue, and no other.", () => {
    const named = [...read("README.md").matchAll(/`queue\.([a-zA-Z]+)\(/g)].map(([, name = ""]) => name);
    const queue = new Queue("orders", { engine: memoryEngine() });
    const methods = Object.getOwnPropertyNames(Object.getPrototypeOf(queue)).filter(
      (name) => name !== "constructor" && typeof Reflect.get(queue, name) === "function",
    );
    expect(named.sort()).toEqual(methods.sort());
  });

  it("names every export of package.json that is an engine.", () => {
    const { exports } = JSON.parse(read("package.json")) as { exports: Record<string, unknown> };
    const engines = Object.keys(exports).flatMap((subpath) => /^\.\/engines\/(.+)$/.exec(subpath)?.[1] ?? []);
    const named = new Set([...read("README.md").matchAll(/`([a-z-]+)`/g)].map(([, name]) => name));
    expect(engines.filter((name) => !named.has(name))).toEqual([]);
  });
});

function ended(program: { once(event: "close", listener: (status: number | null) => void): unknown }) {
  return new Promise<number | null>((resolve) => program.once("close", (status) => resolve(status)));
}
