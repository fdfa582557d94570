import { describe, expect, it } from "vitest";
import { assertNotYetDue } from "./not-yet-due.js";

describe("Due times that lie ahead", () => {
  it("are what they are meant to be up to the last ms before.", () => {
    expect(() => assertNotYetDue("All were stored", 1_000, 999)).not.toThrow();
  });

  it.each([
    [1_000, 0],
    [1_250, 250],
  ])("are refused from the first ms on: at %i.", (now, late) => {
    expect(() => assertNotYetDue("All were stored", 1_000, now)).toThrow(
      `All were stored ${late} ms after the first message came due, so its figures mean nothing.`,
    );
  });
});
