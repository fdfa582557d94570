import { execFile } from "node:child_process";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, it } from "vitest";
import { filesUnder, root } from "../source-files.js";

const story = join(root, "test/fake-timers/jest/story.test.mjs");
const jest = join(root, "node_modules/jest/bin/jest.js");

let project: string;

// A project as a user has it: punctual lies in node_modules and is found through its `exports`.
beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), "punctual-jest-"));
  const installed = join(project, "node_modules", "punctual");
  await build({
    entryPoints: filesUnder("src", /(?<!\.test)\.ts$/).map((path) => join(root, path)),
    outbase: join(root, "src"),
    outdir: join(installed, "dist"),
    format: "esm",
    target: "node20",
    logLevel: "error",
  });
  await cp(join(root, "package.json"), join(installed, "package.json"));
  await cp(story, join(project, "story.test.mjs"));
  const jestSettings = { testMatch: ["**/*.test.mjs"], transform: {}, watchman: false };
  await writeFile(join(project, "package.json"), JSON.stringify({ type: "module", jest: jestSettings }));
});

afterAll(async () => {
  await rm(project, { recursive: true, force: true });
});

interface JestReport {
  readonly success: boolean;
  readonly numPassedTests: number;
  readonly testResults: readonly { readonly message: string }[];
}

function isJestReport(value: unknown): value is JestReport {
  return typeof value === "object" && value !== null && "numPassedTests" in value && "testResults" in value;
}

it("a test under jest moves an order by 30 minutes, with the fake timers of jest and with a manual clock", async () => {
  // Jest runs modules only with this flag of Node. Its report comes also when tests fail.
  const flags = [
    "--experimental-vm-modules",
    jest,
    "--ci",
    "--json",
    "--runInBand",
    "--forceExit",
    "--rootDir",
    project,
  ];
  const env = { ...process.env, NODE_OPTIONS: "", NO_COLOR: "1" };
  const stdout = await new Promise<string>((resolve) => {
    execFile(process.execPath, flags, { cwd: project, env, timeout: 50_000 }, (_failed, printed) => resolve(printed));
  });
  const report: unknown = JSON.parse(stdout);
  if (!isJestReport(report)) throw new Error(`jest gave no report: ${stdout}`);
  expect(report.testResults.map(({ message }) => message).join("\n")).toBe("");
  expect(report).toMatchObject({ success: true, numPassedTests: 4 });
}, 60_000);
