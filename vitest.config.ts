import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const conformance = "test/conformance/**/*.test.ts";
const timing = "test/timing/**/*.test.ts";

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
    reporters: ["default", "json"],
    // `.ci/run` counts from this file.
    outputFile: { json: process.env["PUNCTUAL_TEST_REPORT"] ?? ".build/test-report.json" },
    coverage: { include: ["src/**/*.ts"], exclude: ["src/**/*.test.ts", "src/**/*.generated.ts"] },
    projects: [
      {
        extends: true,
        test: {
          name: "tests",
          include: ["src/**/*.test.ts", "test/**/*.test.ts"],
          exclude: [conformance, timing, "**/node_modules/**"],
          maxWorkers: 3,
          sequence: { groupOrder: 0 },
        },
      },
      {
        // Every engine, case by case: most of the time they wait for what comes due, so more of them share the machine.
        extends: true,
        test: {
          name: "conformance",
          include: [conformance],
          maxWorkers: 4,
          sequence: { groupOrder: 1 },
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
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
