// The last line of a CI run: `node scripts/closing-line.mjs <report> <exit status> <guard's exit status>` reads the JSON report of
// vitest, prints `N passed, N failed` and exits with the first status that is not 0. The guard counts as one test; it has no status
// when it did not run, since something before it failed. A run that failed never counts 0 failed: what no test stands for (a static
// check, the install, a file that does not load, an unhandled error, a crash) counts as one.
import { existsSync, readFileSync } from "node:fs";

const [file, status, guard] = process.argv.slice(2);

function count() {
  if (!existsSync(file)) return { passed: 0, failed: 0 };
  try {
    const report = JSON.parse(readFileSync(file, "utf8"));
    const broken = report.testResults.filter(
      ({ status: result, assertionResults }) =>
        result === "failed" && !assertionResults.some((assertion) => assertion.status === "failed"),
    );
    return { passed: report.numPassedTests, failed: report.numFailedTests + broken.length };
  } catch (error) {
    console.error(`The report of the tests cannot be read: ${String(error)}`);
    return { passed: 0, failed: 1 };
  }
}

const tests = count();
const passed = tests.passed + (guard === "0" ? 1 : 0);
const failed = tests.failed + (guard !== undefined && guard !== "0" ? 1 : 0);
const ok = status === "0" && guard === "0" && tests.passed > 0 && failed === 0;
console.log(`${passed} passed, ${ok ? 0 : Math.max(failed, 1)} failed`);
process.exitCode = ok ? 0 : Number(status) || Number(guard) || 1;
