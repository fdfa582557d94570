import assert from "node:assert/strict";
import { conformanceCases } from "./cases.js";
import type { ConformanceCase, ConformanceSubject } from "./conformance-case.js";
import { CaseTimeout, type Deviation, expectDeviation } from "./deviation.js";

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
   * Cases that this engine does not pass, by name, each with the reason and with how it fails:
   * `{ "A message is …": { kind: "refuses", because: "it keeps no index of ids" } }`. They run and have to fail in just
   * that way: an engine that got better than its docs say breaks the build, and so does a case that fails for another reason,
   * such as its time. A name that no case has is an error.
   */
  readonly deviations?: Readonly<Record<string, Deviation>> | undefined;
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
    const deviation = Object.hasOwn(deviations, one.name) ? deviations[one.name] : undefined;
    const it = one.alone === true ? runner.it : (runner.concurrently ?? runner.it);
    if (deviation === undefined) {
      it(one.name, () => runCase(one, subject, timeout), timeout + 10_000);
    } else {
      const title = `${one.name} [${deviation.kind}: ${deviation.because}]`;
      it(title, () => runDeviation(one, deviation, subject, timeout), timeout + 10_000);
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
async function runDeviation(
  one: ConformanceCase,
  deviation: Deviation,
  subject: ConformanceSubject,
  timeout: number,
): Promise<void> {
  const harness = await subject.open();
  let failure: { readonly error: unknown } | undefined;
  try {
    await withLimit(one.run(harness), timeout);
  } catch (error) {
    failure = { error };
  } finally {
    await harness.close();
  }
  expectDeviation(deviation, failure, { engine: subject.name, name: one.name });
}

async function withLimit(work: Promise<void>, limit: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const tooLong = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new CaseTimeout(limit)), limit);
  });
  try {
    await Promise.race([work, tooLong]);
  } finally {
    clearTimeout(timer);
  }
}
