import { describe, expect, it } from "vitest";
import { PunctualError } from "./errors.js";
import { failureRecord, maxFailureBytes } from "./failure-record.js";

class TextThrows {
  toString(): string {
    throw new Error("no text");
  }
}

const bytesOf = (record: ReturnType<typeof failureRecord>) =>
  Buffer.byteLength(record.name) + Buffer.byteLength(record.message) + Buffer.byteLength(record.stack ?? "");

describe("failureRecord", () => {
  it("keeps name, message and stack of an error", () => {
    const error = new RangeError("too far");
    expect(failureRecord(error)).toEqual({ name: "RangeError", message: "too far", stack: error.stack });
  });

  it("tells what lies under an error, which is often the useful half", () => {
    const cause = new SyntaxError("Unexpected end");
    expect(failureRecord(new PunctualError("undecodable", "Cannot be decoded.", { cause })).message).toBe(
      "Cannot be decoded. (cause: SyntaxError: Unexpected end)",
    );
  });

  it.each([
    ["text", "plain text", "plain text"],
    ["nothing", undefined, "undefined"],
    ["null", null, "null"],
    ["a number", 42, "42"],
    ["an object", { code: 7, deep: { deeper: [1] } }, "{ code: 7, deep: { deeper: [ 1 ] } }"],
    ["a symbol", Symbol("s"), "Symbol(s)"],
    ["an object without prototype", Object.create(null), "[Object: null prototype] {}"],
  ])("shows %s that was thrown", (_, thrown, message) => {
    expect(failureRecord(thrown)).toEqual({ name: "NonError", message });
  });

  it("never throws, whatever was thrown", () => {
    const hostile = new Error("hidden");
    for (const name of ["stack", "name", "message", "cause"]) {
      Object.defineProperty(hostile, name, {
        get: () => {
          throw new Error(`no ${name}`);
        },
      });
    }
    const inspectThrows = {
      [Symbol.for("nodejs.util.inspect.custom")]: () => {
        throw new Error("no inspection");
      },
    };
    expect(failureRecord(new TextThrows()).name).toBe("NonError");
    expect(failureRecord(hostile)).toEqual({ name: "Error", message: "" });
    expect(failureRecord(inspectThrows)).toEqual({ name: "NonError", message: "a thrown object that cannot be shown" });
    expect(failureRecord(new Proxy({}, { get: () => "x" })).name).toBe("NonError");
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    expect(failureRecord(proxy).name).toBe("NonError");
    const { proxy: error, revoke: end } = Proxy.revocable(new Error("x"), {});
    end();
    expect(failureRecord(new Error("over", { cause: error })).message).toBe("over");
    expect(failureRecord(Object.assign(new Error(), { message: 7, stack: {} }))).toEqual({
      name: "Error",
      message: "",
    });
  });

  it("cuts to 4 KiB in all, between characters, and marks the cut", () => {
    const error = new Error("\u{1f600}".repeat(3_000));
    error.name = "N".repeat(1_000);
    error.stack = "ß".repeat(100_000);
    const record = failureRecord(error);
    expect(bytesOf(record)).toBeLessThanOrEqual(maxFailureBytes);
    expect(bytesOf(record)).toBeGreaterThan(maxFailureBytes - 20);
    for (const part of [record.name, record.message, record.stack ?? ""]) {
      expect(part.endsWith("…")).toBe(true);
      expect(part).not.toContain("\ufffd");
    }
    expect(bytesOf(failureRecord("x".repeat(1e7)))).toBeLessThanOrEqual(maxFailureBytes);
  });
});
