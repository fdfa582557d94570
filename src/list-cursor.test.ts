import { describe, expect, it } from "vitest";
import type { ListQuery } from "./engine.js";
import { listMarked, refusedCursor } from "./list-cursor.js";

/** Lists a page of one queue whose own cursors are `next`, and gives what it was asked for. */
function listing() {
  const asked: (string | undefined)[] = [];
  const list = (queue: string, query: Partial<ListQuery>) =>
    listMarked(queue, { state: "due", limit: 1, ...query }, async ({ cursor }) => {
      asked.push(cursor);
      if (cursor !== undefined && cursor !== "next") throw refusedCursor(cursor, "due");
      return { messages: [], cursor: cursor === undefined ? "next" : undefined };
    });
  return { asked, list };
}

describe("The cursor of a list", () => {
  it("is 4 characters longer than the place, which the list gets back as it gave it", async () => {
    const { asked, list } = listing();
    const { cursor } = await list("orders", {});
    expect(cursor).toMatch(/^.{4}next$/);
    expect(await list("orders", { cursor })).toEqual({ messages: [], cursor: undefined });
    expect(asked).toEqual([undefined, "next"]);
  });

  it.each([
    ["another queue", "mails", {}],
    ["another state", "orders", { state: "leased" }],
  ] as const)("of %s is refused before anything is read", async (_, queue, query) => {
    const { asked, list } = listing();
    const { cursor } = await list(queue, query);
    await expect(list("orders", { cursor })).rejects.toMatchObject({
      code: "invalid-argument",
      message: `cursor is "${cursor}"; accepted is the cursor of a page of due messages of this queue, unchanged.`,
      details: { argument: "cursor" },
    });
    expect(asked).toEqual([undefined]);
  });

  it("that the list does not know is refused as it was given", async () => {
    const { list } = listing();
    const { cursor } = await list("orders", {});
    await expect(list("orders", { cursor: `${cursor}?` })).rejects.toThrow(`cursor is "${cursor}?"; accepted`);
  });
});
