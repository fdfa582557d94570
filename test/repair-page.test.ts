import { expect, it } from "vitest";
import { mismatches } from "../src/engines/redis/scripts/audit-check.js";
import { read } from "./source-files.js";

it("docs/how-to/repair.md explains every kind of problem that an audit can find, and no other.", () => {
  const rows = [...read("docs/how-to/repair.md").matchAll(/^\| `([a-z-]+)` +\|/gm)].map(([, kind = ""]) => kind);
  expect(rows).toEqual([...Object.keys(mismatches), "sizes-differ"]);
});
