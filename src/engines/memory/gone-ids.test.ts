import { beforeEach, describe, expect, it } from "vitest";
import { GoneIds } from "./gone-ids.js";

const start = 1_000_000;

describe("the ids of messages that are gone", () => {
  let gone: GoneIds;

  beforeEach(() => {
    gone = new GoneIds();
  });

  it("are forgotten at once as long as nobody asked for more", () => {
    gone.rememberFor(0);
    gone.add("a", start);
    expect([gone.wentAt("a", start), gone.size]).toEqual([undefined, 0]);
  });

  it("are remembered with the time at which they went, until the time is over", () => {
    gone.rememberFor(99.5);
    gone.add("a", start + 0.7);
    expect(gone.wentAt("a", start + 99)).toBe(start);
    expect(gone.wentAt("a", start + 100)).toBeUndefined();
    expect(gone.wentAt("b", start)).toBeUndefined();
  });

  it("stay remembered when somebody opens the queue who asks for nothing", () => {
    gone.rememberFor(100);
    gone.rememberFor(0);
    gone.add("a", start);
    expect(gone.wentAt("a", start + 50)).toBe(start);
  });

  it("are remembered anew when they go once more", () => {
    gone.rememberFor(100);
    gone.add("a", start);
    gone.add("a", start + 200);
    expect([gone.wentAt("a", start + 250), gone.size]).toEqual([start + 200, 1]);
  });

  it("are dropped two for each that comes once their time is over, so that they do not grow", () => {
    gone.rememberFor(100);
    for (let n = 0; n < 50; n++) gone.add(`old ${n}`, start);
    for (let n = 0; n < 25; n++) gone.add(`new ${n}`, start + 100);
    expect(gone.size).toBe(25);
    gone.add("one more", start + 199);
    expect(gone.size).toBe(26);
  });
});
