import { describe, expect, it } from "vitest";
import { Inbox } from "./inbox.js";

const many = (count: number, prefix = "m") => Array.from({ length: count }, (_, index) => `${prefix}-${index}`);

describe("What a process is to ask for", () => {
  it("is given once, though it was heard and a sweep has read it too", () => {
    const inbox = new Inbox();
    inbox.sweep(true);
    inbox.learn("0", "0", ["a", "b", "b"]);
    inbox.hear(["b", "c"]);
    expect(inbox.draw(100)).toEqual(["b", "c", "a"]);
    expect(inbox.draw(100)).toEqual([]);
    expect(inbox.behind).toBe(false);
  });

  it("is all of it where that is little, and a few more than there is room for where it is much", () => {
    const inbox = new Inbox();
    inbox.hear(many(250));
    expect(inbox.draw(1)).toHaveLength(250);
    inbox.hear(many(251));
    expect(inbox.draw(1)).toHaveLength(32);
    expect(inbox.draw(1)).toHaveLength(219);
    inbox.hear(many(600));
    expect(inbox.draw(1_000)).toHaveLength(250);
  });

  it("is bounded, and what was dropped has a sweep begin once there is room", () => {
    const inbox = new Inbox();
    inbox.hear(many(10_001));
    expect(inbox.behind).toBe(true);
    expect(inbox.cursor).toBeUndefined();
    inbox.draw(100);
    expect(inbox.behind).toBe(true);
    expect(inbox.cursor).toBe("0");
  });

  it("is read by a sweep from page to page, once, and of two that read a page the second counts for nothing", () => {
    const inbox = new Inbox();
    inbox.missed();
    expect(inbox.cursor).toBe("0");
    inbox.learn("0", "7", ["a"]);
    inbox.learn("0", "9", ["twice"]);
    expect(inbox.cursor).toBe("7");
    inbox.learn("7", "0", many(250));
    expect(inbox.cursor).toBeUndefined();
    expect(inbox.draw(1_000)).toHaveLength(250);
    expect(inbox.draw(1_000)).toHaveLength(1);
    expect([inbox.sweeping, inbox.behind]).toEqual([false, false]);
  });

  it("is begun anew after a sweep that something was missed during", () => {
    const inbox = new Inbox();
    inbox.missed();
    inbox.learn("0", "7", []);
    inbox.missed();
    expect(inbox.cursor).toBe("7");
    inbox.learn("7", "0", []);
    expect(inbox.behind).toBe(true);
    expect(inbox.cursor).toBe("0");
  });

  it("is found by a sweep that begins at once where one that only makes sure was under way", () => {
    const inbox = new Inbox();
    inbox.sweep(false);
    inbox.learn("0", "7", []);
    inbox.hear(many(10_001));
    while (inbox.draw(1_000).length > 0) expect(inbox.behind).toBe(true);
    expect([inbox.behind, inbox.cursor]).toEqual([true, "0"]);
  });

  it("is nothing to hurry for while a sweep only makes sure, or while there is a pause", () => {
    const inbox = new Inbox();
    inbox.sweep(false);
    expect([inbox.sweeping, inbox.behind, inbox.cursor]).toEqual([true, false, "0"]);
    inbox.sweep(true);
    expect(inbox.behind).toBe(true);
    inbox.paused = true;
    expect(inbox.behind).toBe(false);
    inbox.missed();
    expect(inbox.behind).toBe(true);
  });
});
