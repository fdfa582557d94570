import { expect, it, vi } from "vitest";
import { askInTurn } from "./ask-in-turn.js";
import { CommandFailure, type Connection, type Connector } from "./port.js";
import { within } from "./within.js";

/** Servers of which the test says what becomes of connecting to each; `undefined` never answers. */
function servers(...ends: readonly (string | CommandFailure | undefined)[]) {
  const destroyed: string[] = [];
  const connected: number[] = [];
  const of = ends.map((end, index): Connector => {
    const connection: Connection = {
      send: async () => Buffer.from(String(index)),
      subscribe: async () => {},
      unsubscribe: async () => {},
      onLost: () => {},
      destroy: () => destroyed.push(`s${index}`),
    };
    return {
      target: `s${index}`,
      connect: async () => {
        connected.push(index);
        if (end === undefined) return await new Promise<never>(() => {});
        if (end instanceof CommandFailure) throw end;
        return connection;
      },
    };
  });
  const ask = (connection: Connection) => connection.send(["WHO"]).then(String);
  const answer = (timeout = 1_000) => within(timeout, "nobody answered", (open) => askInTurn({ of, ask, open }));
  return { answer, connected, destroyed };
}

const down = new CommandFailure("not-sent", "nothing listens there");
const denied = new CommandFailure("refused", "WRONGPASS invalid password", { code: "WRONGPASS" });

it("The first that answers is the only one that is asked, and its connection is closed", async () => {
  const { answer, connected, destroyed } = servers("up", "up");
  expect(await answer()).toEqual({ answer: "0", from: 0 });
  expect([connected, destroyed]).toEqual([[0], ["s0"]]);
});

it("When one fails, the next is asked at once", async () => {
  const { answer, connected } = servers(down, down, "up", "up");
  expect(await answer()).toEqual({ answer: "2", from: 2 });
  expect(connected).toEqual([0, 1, 2]);
});

it("When one is silent, the next is asked beside it before the time is over", async () => {
  const { answer } = servers(undefined, undefined, "up");
  expect(await answer()).toEqual({ answer: "2", from: 2 });
});

it("When all fail, it is told what each of them said, once", async () => {
  const failure = { outcome: "not-sent", message: "s0, s1, s2: nothing listens there; WRONGPASS invalid password" };
  await expect(servers(down, down, denied).answer()).rejects.toMatchObject(failure);
});

it("When all refuse for one reason, that is what has to be changed", async () => {
  await expect(servers(denied, denied).answer()).rejects.toBe(denied);
});

it("When nobody answers, the time is over", async () => {
  await expect(servers(undefined).answer(50)).rejects.toMatchObject({ message: "nobody answered within 50 ms" });
});

it("A connection that comes when the time is over is closed", async () => {
  let connect: (connection: Connection) => void = () => {};
  const destroy = vi.fn<() => void>();
  const late: Connector = { target: "late", connect: () => new Promise((resolve) => (connect = resolve)) };
  await expect(within(20, "nobody answered", (open) => open(late))).rejects.toThrow("nobody answered");
  connect({
    send: async () => null,
    subscribe: async () => {},
    unsubscribe: async () => {},
    onLost: () => {},
    destroy,
  });
  await vi.waitFor(() => expect(destroy).toHaveBeenCalledTimes(1));
});
