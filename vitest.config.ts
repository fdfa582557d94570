import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { LongestFirst } from "./test/longest-first.js";

const timing = "test/timing/**/*.test.ts";

/** Files of tests that run at a time. Most of the time they wait for what comes due: each keeps a third of a processor busy. */
const maxWorkers = 6;

/** A process loads the source once for all files that it runs: a process and the source for each file took two minutes in all. */
const isolate = false;

const source = (path: string) => fileURLToPath(new URL(`./src/${path}`, import.meta.url));

export default defineConfig({
  resolve: {
    // Examples and programs of tests import the package by its name; here that is the source, as in tsconfig.json.
    alias: [
      { find: /^punctual$/, replacement: source("index.ts") },
      { find: /^punctual\/testing$/, replacement: source("testing/index.ts") },
      { find: /^punctual\/engines\/([a-z-]+)$/, replacement: source("engines/$1/engine.ts") },
    ],
  },
  test: {
    // Private servers keep nothing on a disk, and every program that connects to one would say so.
    execArgv: ["--disable-warning=PunctualWarning"],
    env: { NODE_OPTIONS: "--disable-warning=PunctualWarning" },
    testTimeout: 20_000,
    hookTimeout: 20_000,
    // As long as a test may take: what is polled says when it is there, and a busy machine stands still for a second at times.
    expect: { poll: { timeout: 15_000 } },
    globalSetup: "test/folder-of-run.ts",
    sequence: { sequencer: LongestFirst },
    reporters: ["default", "json"],
    // `.ci/run` counts from this file.
    outputFile: { json: process.env["PUNCTUAL_TEST_REPORT"] ?? ".build/test-report.json" },
    coverage: { include: ["src/**/*.ts"], exclude: ["src/**/*.test.ts", "src/**/*.generated.ts"] },
    projects: [
      {
        extends: true,
        test: {
          name: "units",
          include: ["src/**/*.test.ts", "bench/**/*.test.ts"],
          exclude: ["**/node_modules/**", "**/.build/**"],
          isolate,
          maxWorkers,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: "tests",
          // Of cases that may run together: they wait even more.
          maxConcurrency: 6,
          include: ["test/**/*.test.ts"],
          exclude: [timing, "**/node_modules/**"],
          isolate,
          maxWorkers,
          sequence: { groupOrder: 0 },
        },
      },
      {
        // What is measured (lateness, idle cost, who is on duty) is measured on a machine that does nothing else: after
        // all other tests, one file at a time.
        extends: true,
        test: {
          name: "timing",
          include: [timing],
          maxWorkers: 1,
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
