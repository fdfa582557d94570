import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

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
          exclude: [timing, "**/node_modules/**"],
          maxWorkers: 2,
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
