import { expect, it, vi } from "vitest";
import { ConnectionLife } from "./connection-life.js";

it("Whoever listens is told once that the connection was lost, and who listens later at once", () => {
  const life = new ConnectionLife(() => {});
  const [early, late] = [vi.fn<(cause: Error) => void>(), vi.fn<(cause: Error) => void>()];
  life.onLost(early);
  life.lose(new Error("gone"));
  life.lose(new Error("again"));
  life.onLost(late);
  for (const listener of [early, late]) expect(listener.mock.calls).toEqual([[new Error("gone")]]);
});

it("Who has ended the listening is not told", () => {
  const life = new ConnectionLife(() => {});
  const listener = vi.fn<(cause: Error) => void>();
  const end = life.onLost(listener);
  end();
  life.lose(new Error("gone"));
  expect(listener).not.toHaveBeenCalled();
});
