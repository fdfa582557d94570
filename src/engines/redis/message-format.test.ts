import { describe, expect, it } from "vitest";
import { encodeBody } from "../../scripting/message-body.js";
import { failureText } from "../../scripting/failure-text.js";
import { decodeMessage } from "../../scripting/message-body.js";
import { decodeFailure } from "./message-format.js";

const sequence = Buffer.from([0, 0, 0, 0, 0, 1, 2]);
const stored = (message: Parameters<typeof encodeBody>[0]) =>
  decodeMessage(Buffer.concat([sequence, encodeBody(message)]));

describe("A stored message", () => {
  it("costs 8 bytes over its payload when it has no options", () => {
    const payload = Buffer.from([0, 255, 10]);
    expect(encodeBody({ payload })).toEqual(Buffer.from([0, 0, 255, 10]));
    expect(stored({ payload })).toEqual({
      payload,
      attempts: undefined,
      expiresAt: undefined,
      headers: undefined,
    });
  });

  it.each<Omit<Parameters<typeof encodeBody>[0], "payload">>([
    { attempts: 7 },
    { expiresIn: 1_234.2 },
    { headers: { a: "b", ["__proto__"]: "é", "": "🙂" } },
    { attempts: 1, expiresIn: 8.64e15 },
    { attempts: 4_294_967_295, headers: {} },
    { attempts: 3, expiresIn: 5, headers: { traceparent: "00" } },
  ])("comes back with its options: %o", ({ attempts, expiresIn, headers }) => {
    const message = stored({ payload: Buffer.from("payload"), attempts, expiresIn, headers });
    expect(message.payload.toString()).toBe("payload");
    expect(message.attempts).toBe(attempts);
    // The script puts the time of expiry in its place; a fraction of a ms counts as a whole one.
    expect(message.expiresAt).toBe(expiresIn === undefined ? undefined : Math.ceil(expiresIn));
    expect(Object.entries(message.headers ?? {})).toEqual(Object.entries(headers ?? {}));
  });

  it("takes a limit of attempts beyond 32 bits as none", () => {
    expect(stored({ payload: Buffer.alloc(0), attempts: 1e12 }).attempts).toBe(4_294_967_295);
  });

  it.each([
    ["nothing", Buffer.alloc(0)],
    ["a sequence number only", sequence],
    ["a flag without its value", Buffer.concat([sequence, Buffer.from([1, 0])])],
    ["headers that are no JSON", Buffer.concat([sequence, Buffer.from([4, 0, 0, 0, 1, 0x7b])])],
    ["headers that are no object", Buffer.concat([sequence, Buffer.from([4, 0, 0, 0, 1, 0x31])])],
  ])("is refused when it is %s", (_, value) => {
    expect(() => decodeMessage(value)).toThrow(expect.objectContaining({ code: "misconfigured" }));
  });
});

describe("A stored failure", () => {
  const value = (reason: string, error: string) => {
    const head = Buffer.alloc(22);
    head.writeUInt32BE(3, 0);
    head.writeDoubleBE(1_000, 4);
    head.writeDoubleBE(2_000, 12);
    head.writeUInt16BE(Buffer.byteLength(reason), 20);
    return Buffer.concat([head, Buffer.from(reason), Buffer.from(error)]);
  };

  it("comes back with its reason and error", () => {
    const error = { name: "TypeError", message: "é", stack: "at …" };
    expect(decodeFailure(value("reason é", failureText(error)))).toEqual({
      attempts: 3,
      errorAt: 1_000,
      dueAt: 2_000,
      reason: "reason é",
      error,
    });
  });

  it("may have no error, and an error no stack", () => {
    expect(decodeFailure(value("", failureText(undefined))).error).toBeUndefined();
    expect(decodeFailure(value("", failureText({ name: "E", message: "m" }))).error).toEqual({
      name: "E",
      message: "m",
    });
  });

  it("is refused when it is cut off, or its error is no object", () => {
    for (const broken of [Buffer.alloc(5), value("", "{"), value("", "1")]) {
      expect(() => decodeFailure(broken)).toThrow(expect.objectContaining({ code: "misconfigured" }));
    }
  });
});
