import { describe, expect, it } from "vitest";
import type { EngineQueue } from "../../src/engine.js";
import { conformanceCases, promises } from "../../src/testing/conformance/index.js";
import { deviations } from "./deviations.js";
import { promisesOfContract, promisesPage } from "./promises-page.js";

/** Every operation of the contract; one that is missing here or there does not compile. */
const operations: Readonly<Record<Exclude<keyof EngineQueue, "clock" | "closed">, true>> = {
  schedule: true,
  claim: true,
  acknowledge: true,
  retry: true,
  release: true,
  bury: true,
  extend: true,
  cancel: true,
  reschedule: true,
  get: true,
  counts: true,
  list: true,
  revive: true,
  remove: true,
  purge: true,
  audit: true,
  repair: true,
  pause: true,
  resume: true,
  watch: true,
};

describe("the conformance suite", () => {
  it("knows the promises by the words of the contract", () => {
    const titles = [...promisesOfContract()].map(([number, { title }]) => [String(number), title]);
    expect(Object.entries(promises)).toEqual(titles);
  });

  it("shows every promise in at least one case whose name begins with its words", () => {
    for (const [number, title] of Object.entries(promises)) {
      const cases = conformanceCases.filter((one) => one.promise === Number(number));
      expect(cases).not.toEqual([]);
      for (const { name } of cases) expect(name).toMatch(new RegExp(`^${title}: `, "u"));
    }
  });

  it("shows every operation of the contract in at least one case", () => {
    for (const operation of Object.keys(operations)) {
      expect(conformanceCases.map((one) => one.operation)).toContain(operation);
    }
  });

  it("has no two cases of one name, and none that is about nothing", () => {
    const names = conformanceCases.map((one) => one.name);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    expect(conformanceCases.filter((one) => one.promise === undefined && one.operation === undefined)).toEqual([]);
    for (const one of conformanceCases) {
      const titled = Object.values(promises).some((title) => one.name.startsWith(`${title}: `));
      expect({ name: one.name, titled }).toEqual({ name: one.name, titled: one.promise !== undefined });
    }
  });

  it("gives a reason for every deviation of an engine", () => {
    for (const list of Object.values(deviations)) {
      for (const reason of Object.values(list)) expect(reason).toMatch(/\w+ \w+/u);
    }
  });

  it("is listed on the page of promises", async () => {
    await expect(promisesPage()).toMatchFileSnapshot("../../docs/reference/promises.md");
  });
});
