import { describe, expect, it } from "vitest";
import { onceARun } from "./once-a-run.js";

describe("What is made once a run", () => {
  it("fails at once when there can be no folder for it.", async () => {
    const make = () => Promise.resolve("made");
    await expect(onceARun("a folder that is not there/its name", make)).rejects.toThrow("ENOENT");
  });
});
