import { describe, expect, it } from "vitest";
import { conformanceCases } from "../../../src/testing/conformance/index.js";
import { groups, needing } from "./needing.js";

const named = groups.flatMap(({ cases }) => cases);

describe("the groups of conformance cases", () => {
  it("name cases that there are, and each once", () => {
    const names = new Set(conformanceCases.map(({ name }) => name));
    expect(named.filter((name) => !names.has(name))).toEqual([]);
    expect(named.filter((name, index) => named.indexOf(name) !== index)).toEqual([]);
  });

  it("are one for each set of needs", () => {
    const needs = groups.map((group) => [...group.needs].toSorted().join(" and "));
    expect(needs.filter((name, index) => needs.indexOf(name) !== index)).toEqual([]);
    expect(needs).not.toContain("");
  });

  it("give the cases that need all of what is asked for", () => {
    expect(needing("get", "repair")).toEqual(["No orphans: a repair touches nothing where nothing is broken"]);
    expect(needing("get")).toEqual(expect.arrayContaining([...needing("get", "repair")]));
    expect(needing("list", "pause")).toEqual([]);
  });
});
