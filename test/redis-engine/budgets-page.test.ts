import { describe, expect, it } from "vitest";
import { read } from "../source-files.js";

const page = read("docs/explanation/redis-engine.md");
const scripts = "src/engines/redis/scripts";
const shared = "../../../scripting";

/** The number behind `text` in a file, which stands there once. */
function numberIn(file: string, text: RegExp): number {
  const [found, ...more] = [...read(`${scripts}/${file}`).matchAll(text)];
  expect([found?.[1] === undefined, more.length], `${file}: ${text.source}`).toEqual([false, 0]);
  return Number(found?.[1]?.replaceAll("_", ""));
}

describe("The table of budgets", () => {
  const atOnce = (file: string) => numberIn(file, /const mostAtOnce = ([\d_]+)/g);
  const numbers = (row: string) =>
    [...(new RegExp(`^\\| ${row} +\\|([^|(]*)`, "m").exec(page)?.[1] ?? "").matchAll(/\d+/g)].map(Number);

  it("says how many messages one call has", () => {
    const usual = numberIn(`${shared}/in-chunks.ts`, /const itemsPerCall = ([\d_]+)/g);
    expect([atOnce("claim.ts"), atOnce("remove.ts")]).toEqual([usual, usual]);
    expect(numberIn("purge.lua", /entries_from\(.*, (\d+)\)/g)).toBe(usual);
    const most = atOnce("schedule.ts");
    expect(atOnce("acknowledge.ts")).toBe(most);
    const least = atOnce("revive.ts");
    expect(atOnce("get.ts")).toBe(least);
    expect(numberIn("list.ts", /const messagesPerCall = ([\d_]+)/g)).toBe(least);
    expect(numberIn("schedule.ts", /const mostReplaced = ([\d_]+)/g)).toBe(least);
    expect(numbers("messages in one call")).toEqual([usual, most, least]);
  });

  it("says how many bytes one call has", () => {
    expect(numbers("bytes sent")).toEqual([numberIn(`${shared}/in-chunks.ts`, /bytesPerCall = (\d+) \* 1024/g)]);
    const budget = numberIn(`${shared}/snippets/bodies.lua`, /local budget = (\d+)/g);
    expect(numbers("bytes read or deleted")).toEqual([budget / 2 ** 20]);
    expect(numberIn("audit-scan.lua", /local budget, most, steps = (\d+)/g)).toBe(budget);
  });

  it("says how many bytes of errors one call reads", () => {
    expect(numbers("errors read")).toEqual([numberIn("snippets/failures.lua", /failures_budget = (\d+)/g) / 1024]);
  });

  it("says how many leases one claim reclaims", () => {
    // A claim does no more in all than one that reclaims none.
    expect(numberIn("claim.lua", /limit > (\d+) - reclaimed/g)).toBe(atOnce("claim.ts"));
    expect(numbers("leases reclaimed")).toEqual([numberIn("snippets/reclaim.lua", /"LIMIT", 0, (\d+)\)/g)]);
  });
});
