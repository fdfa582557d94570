import { defineConfig } from "vitest/config";

const timing = "test/timing/**/*.test.ts";

export default defineConfig({
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
