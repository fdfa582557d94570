import assert from "node:assert/strict";
import { conformanceCases } from "./cases.js";
import type { ConformanceCase, ConformanceSubject } from "./conformance-case.js";

/** Registers a test, as vitest, jest, mocha and `node:test` do. A third argument that the runner does not know is ignored. */
export type RegisterTest = (name: string, run: () => Promise<void>, timeout: number) => unknown;

/** What the suite needs of a test runner. */
export interface ConformanceRunner {
  readonly describe: (name: string, register: () => void) => unknown;
  readonly it: RegisterTest;
  /** Registers a test that may run together with others, such as `it.concurrent`. Default: `it`. */
  readonly concurrently?: RegisterTest | undefined;
}

export interface ConformanceOptions {
  /**
   * Cases that this engine does not pass, by name, each with the reason. They run and have to fail: an engine that got
   * better than its docs say breaks the build. A name that no case has is an error.
   */
  readonly deviations?: Readonly<Record<string, string>> | undefined;
  /** How long one case may take by the clock of this machine, ms. Default 60,000. */
  readonly timeout?: number | undefined;
}

/** Registers every conformance case as a test of `subject`. */
export function runConformance(
  runner: ConformanceRunner,
  subject: ConformanceSubject,
  options: ConformanceOptions = {},
): void {
  const { deviations = {}, timeout = 60_000 } = options;
  for (const name of Object.keys(deviations)) {
    const known = conformanceCases.some((one) => one.name === name);
    assert.ok(known, `deviations of ${subject.name} name a case that does not exist: "${name}"`);
  }
  const register = (one: ConformanceCase) => {
    const reason = Object.hasOwn(deviations, one.name) ? deviations[one.name] : undefined;
    const it = one.alone === true ? runner.it : (runner.concurrently ?? runner.it);
    if (reason === undefined) {
      it(one.name, () => runCase(one, subject, timeout), timeout + 10_000);
    } else {
      it(`${one.name} [deviates: ${reason}]`, () => expectFailure(one, subject, timeout), timeout + 10_000);
    }
  };
  runner.describe(`${subject.name} keeps the contract`, () => {
    // Those that run alone come last, so that a runner can put all others together.
    for (const one of conformanceCases) if (one.alone !== true) register(one);
    for (const one of conformanceCases) if (one.alone === true) register(one);
  });
}

/** Runs one case on an engine of its own. */
async function runCase(one: ConformanceCase, subject: ConformanceSubject, timeout: number): Promise<void> {
  const harness = await subject.open();
  try {
    await withLimit(one.run(harness), timeout);
  } finally {
    await harness.close();
  }
}

/** Runs a case that is a deviation; an engine that cannot be opened or closed is an error all the same. */
async function expectFailure(one: ConformanceCase, subject: ConformanceSubject, timeout: number): Promise<void> {
  const harness = await subject.open();
  let failed = false;
  try {
    await withLimit(one.run(harness), timeout);
  } catch {
    failed = true;
  } finally {
    await harness.close();
  }
  assert.ok(failed, `"${one.name}" passes: take it off the deviations of ${subject.name}`);
}

async function withLimit(work: Promise<void>, limit: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const tooLong = new Promise<never>((_, reject) => {
    const fail = () => reject(new assert.AssertionError({ message: `not done after ${limit} ms` }));
    timer = setTimeout(fail, limit);
  });
  try {
    await Promise.race([work, tooLong]);
  } finally {
    clearTimeout(timer);
  }
}
