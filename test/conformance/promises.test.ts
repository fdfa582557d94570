import { describe, expect, it } from "vitest";
import type { EngineQueue } from "../../src/engine.js";
import { conformanceCases, promises } from "../../src/testing/conformance/index.js";
import { read } from "../source-files.js";
import { collectedEngines } from "./collected.js";
import { groups } from "./groups/needing.js";
import { matrix, promisesOfContract, promisesPage } from "./promises-page.js";

/** Every operation of the contract; one that is missing here or there does not compile. */
const operations: Readonly<Record<Exclude<keyof EngineQueue, "clock" | "closed" | "partitions" | "sent">, true>> = {
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

// Collecting them takes a second, on a busy machine much longer.
describe("the conformance suite", { timeout: 90_000 }, () => {
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

  it("gives a reason for every deviation of an engine, and runs every case on each", async () => {
    const names = conformanceCases.map((one) => one.name).toSorted();
    for (const { engine, cases } of await collectedEngines()) {
      expect([engine, [...cases.keys()].toSorted()]).toEqual([engine, names]);
      const deviations = [...cases.values()].filter((deviation) => deviation !== undefined);
      for (const { because } of deviations) expect(because).toMatch(/\w+ \w+/u);
    }
  });

  it("has a group for every case that several engines deviate in, and none for a case that all pass", async () => {
    const deviating = (await collectedEngines()).flatMap(({ cases }) =>
      [...cases].flatMap(([name, deviation]) => (deviation === undefined ? [] : [name])),
    );
    const several = deviating.filter((name, index) => deviating.indexOf(name) !== index);
    const named = new Set(groups.flatMap(({ cases }) => cases));
    expect([...named]).toEqual(expect.arrayContaining(several));
    expect(deviating).toEqual(expect.arrayContaining([...named]));
  });

  it("is run on every engine of the package", async () => {
    const { exports } = JSON.parse(read("package.json")) as { exports: Record<string, unknown> };
    const engines = Object.keys(exports).flatMap((subpath) => /^\.\/engines\/(.+)$/u.exec(subpath)?.[1] ?? []);
    expect((await collectedEngines()).map(({ engine }) => engine)).toEqual(expect.arrayContaining(engines));
  });

  it("is listed on the page of promises", async () => {
    await expect(promisesPage(await collectedEngines())).toMatchFileSnapshot("../../docs/reference/promises.md");
  });

  it("has its matrix in the README", async () => {
    // The same engine on another client or server keeps the same.
    const engines = (await collectedEngines()).filter(({ engine }) => !engine.includes(" on "));
    const table = matrix(engines).join("\n");
    const readme = read("README.md").replace(/(?<=<!-- matrix -->\n\n).*?(?=\n\n<!-- end -->)/su, () => table);
    await expect(readme).toMatchFileSnapshot("../../README.md");
  });
});
