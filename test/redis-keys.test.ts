import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { queueKeys } from "../src/engines/redis/keys.js";
import { sources } from "../src/engines/redis/scripts/sources.generated.js";

const page = readFileSync(new URL("../docs/reference/redis-keys.md", import.meta.url), "utf8");

/** The first cells of a table's rows, without the code quotes. */
function firstCells(section: string): string[] {
  return [...section.matchAll(/^\| (`[^|]+`) +\|/gm)].flatMap(([, cell = ""]) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name),
  );
}

describe("docs/reference/redis-keys.md", () => {
  const [keysTable = "", stateTable = ""] = page.split("\n## ");

  it("names every key of a queue, and no other.", () => {
    const { channel, ...keys } = queueKeys("punctual", "orders");
    const base = "{punctual:orders}:";
    expect(firstCells(keysTable).map((name) => base + name)).toEqual(expect.arrayContaining(Object.values(keys)));
    expect(firstCells(keysTable)).toHaveLength(Object.keys(keys).length);
    expect(page).toContain(`\`${channel}\``);
  });

  it("names every field of `state` that a script reads or writes, and no other.", () => {
    const commands = Object.values(sources).flatMap((source) => [
      ...source.matchAll(/redis\.call\("H[A-Z]+", state,([^)]*)/g),
    ]);
    const used = new Set(
      commands.flatMap(([, args = ""]) => [...args.matchAll(/"([a-zA-Z]+)"/g)].map(([, name]) => name)),
    );
    expect(new Set(firstCells(stateTable))).toEqual(used);
  });
});
