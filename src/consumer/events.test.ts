import { expect, it, vi } from "vitest";
import { EventEmitter } from "./events.js";

const microtasks = () => Promise.resolve().then(() => Promise.resolve());

it("calls listeners in their order until they are removed, each once", () => {
  const events = new EventEmitter<string>();
  const told: string[] = [];
  const first = () => told.push("first");
  const second = () => {
    told.push("second");
    events.remove("recovered", second);
  };
  events.add("recovered", first);
  events.add("recovered", second);
  events.add("recovered", first);
  events.emit("recovered");
  events.emit("recovered");
  expect(told).toEqual(["first", "second", "first"]);
});

it("does not call a listener that is added while it tells", () => {
  const events = new EventEmitter<string>();
  let calls = 0;
  const again = () => {
    calls += 1;
    events.add("recovered", () => again());
  };
  events.add("recovered", again);
  events.emit("recovered");
  expect(calls).toBe(1);
});

it("tells by error of a listener that throws or rejects, and goes on with the others", async () => {
  const events = new EventEmitter<string>();
  const told: unknown[] = [];
  events.add("error", (error) => told.push(error));
  events.add("recovered", () => {
    throw new Error("thrown");
  });
  events.add("recovered", () => Promise.reject(new Error("rejected")));
  events.add("recovered", () => told.push("the next"));
  events.emit("recovered");
  await microtasks();
  expect(told).toEqual([new Error("thrown"), "the next", new Error("rejected")]);
});

it("needs no listener for error, and warns of one that throws", () => {
  const events = new EventEmitter<string>();
  const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
  events.emit("error", new Error("unheard"));
  expect(warn).not.toHaveBeenCalled();
  events.add("error", () => {
    throw new Error("again");
  });
  events.emit("error", new Error("heard"));
  expect(warn).toHaveBeenCalledExactlyOnceWith(
    expect.stringMatching(/^A listener of error failed: Error: again\n +at /),
    "PunctualListenerError",
  );
  warn.mockRestore();
});

it("warns of whatever an error listener throws, and throws nothing itself", async () => {
  const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  const nameThrows = new Error("x");
  Object.defineProperty(nameThrows, "name", { get: () => Reflect.apply(Math.max, undefined, [Symbol("s")]) });
  const thrown: unknown[] = [Object.create(null), proxy, nameThrows, Symbol("s"), undefined];
  for (const error of thrown) {
    const events = new EventEmitter<string>();
    events.add("error", () => {
      throw error;
    });
    events.emit("error", new Error("heard"));
    const rejecting = new EventEmitter<string>();
    rejecting.add("error", async () => {
      throw error;
    });
    rejecting.emit("error", new Error("heard"));
  }
  await new Promise((resolve) => setImmediate(resolve));
  expect(warn).toHaveBeenCalledTimes(2 * thrown.length);
  warn.mockRestore();
});

it("refuses an event that there is not, also names that every object has", () => {
  const events = new EventEmitter<string>();
  for (const name of ["deliver", "toString", "__proto__"]) {
    expect(() => Reflect.apply(events.add, events, [name, () => {}])).toThrow(
      expect.objectContaining({
        code: "invalid-argument",
        message: expect.stringMatching(/^There is no event .*; there are delivered,/),
      }),
    );
  }
  expect(() => Reflect.apply(events.add, events, ["error", "log"])).toThrow(
    /^listener is "log"; accepted is a function/,
  );
});
