import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const script = join(import.meta.dirname, "..", "scripts", "closing-line.mjs");

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "punctual-closing-line-"))));
afterAll(() => rm(folder, { recursive: true }));

/** What it prints, and its exit status, after so many tests passed and failed. */
async function closingLine(passed: number, failed: number, ...statuses: readonly number[]): Promise<string> {
  const report = join(folder, `${passed}-${failed}.json`);
  await writeFile(report, JSON.stringify({ numPassedTests: passed, numFailedTests: failed, testResults: [] }));
  const { stdout, status } = spawnSync(process.execPath, [script, report, ...statuses.map(String)], {
    encoding: "utf8",
  });
  return `${stdout.trimEnd()}; ${status}`;
}

describe("The last line of a CI run", () => {
  it("counts the guard of speed as one test more.", async () => {
    expect(await closingLine(10, 0, 0, 0)).toBe("11 passed, 0 failed; 0");
    expect(await closingLine(10, 0, 0, 1)).toBe("10 passed, 1 failed; 1");
  });

  it("tells of a failure, and exits with its status, when the checks failed and the guard did not run.", async () => {
    expect(await closingLine(0, 0, 1)).toBe("0 passed, 1 failed; 1");
    expect(await closingLine(9, 3, 1)).toBe("9 passed, 3 failed; 1");
  });

  it("takes a guard that could not run, or never ran, for one that failed.", async () => {
    expect(await closingLine(10, 0, 0, 2)).toBe("10 passed, 1 failed; 2");
    expect(await closingLine(10, 0, 0)).toBe("10 passed, 1 failed; 1");
  });
});
