import { describe, expect, it } from "vitest";
import { binaryCodec, jsonCodec, textCodec } from "./codec.js";

const invalid = (message: RegExp) =>
  expect.objectContaining({ code: "invalid-argument", message: expect.stringMatching(message) });

describe("jsonCodec", () => {
  it.each([[null], [0], [""], ["\ud800 half"], ["\u{1f600}"], [[]], [{}], [{ a: [1, { b: null }] }], [false]])(
    "brings %j back as it was",
    (payload) => {
      const codec = jsonCodec<unknown>();
      expect(codec.decode(codec.encode(payload))).toEqual(payload);
    },
  );

  it("keeps a name __proto__ as data and touches no prototype", () => {
    const codec = jsonCodec<unknown>();
    const payload: unknown = JSON.parse('{"__proto__":{"admin":true}}');
    const back = codec.decode(codec.encode(payload));
    expect(JSON.stringify(back)).toBe('{"__proto__":{"admin":true}}');
    expect(Reflect.get({}, "admin")).toBeUndefined();
  });

  it.each([[undefined], [() => {}], [Symbol("a")]])("refuses %s, which JSON cannot say", (payload) => {
    expect(() => jsonCodec<unknown>().encode(payload)).toThrow(invalid(/which JSON cannot say; accepted is/));
  });

  it("refuses a bigint and a cycle with the reason of JSON.stringify", () => {
    const cycle: unknown[] = [];
    cycle.push(cycle);
    expect(() => jsonCodec<unknown>().encode({ n: 1n })).toThrow(invalid(/cannot be written as JSON: .*BigInt/));
    expect(() => jsonCodec<unknown>().encode(cycle)).toThrow(invalid(/cannot be written as JSON: .*circular/i));
  });

  it("does not decode bytes that are no JSON or no UTF-8", () => {
    expect(() => jsonCodec<unknown>().decode(Buffer.from("{"))).toThrow(SyntaxError);
    expect(() => jsonCodec<unknown>().decode(Buffer.from([0x22, 0xff, 0x22]))).toThrow(TypeError);
  });
});

describe("textCodec", () => {
  it.each([[""], ["plain"], ["\ufeffwith a byte order mark"], ["\0\u{1f600}\u{10ffff}"]])(
    "brings %j back as it was",
    (text) => {
      const codec = textCodec();
      expect(codec.decode(codec.encode(text))).toBe(text);
    },
  );

  it("refuses half of a surrogate pair, which would come back changed, and what is no text", () => {
    expect(() => textCodec().encode("a\udc00")).toThrow(invalid(/without lone surrogates/));
    expect(() => Reflect.apply(textCodec().encode, undefined, [7])).toThrow(invalid(/The payload is 7; accepted/));
  });

  it("does not decode bytes that are no UTF-8", () => {
    expect(() => textCodec().decode(Buffer.from([0xc0, 0x80]))).toThrow(TypeError);
  });
});

describe("binaryCodec", () => {
  it("brings every byte back as it was, none too", () => {
    const codec = binaryCodec();
    const all = Uint8Array.from({ length: 256 }, (_, byte) => byte);
    expect(codec.decode(codec.encode(all))).toEqual(all);
    expect(codec.decode(codec.encode(new Uint8Array()))).toEqual(new Uint8Array());
  });

  it("copies, so that the caller may use its buffer again and the handler sees nothing beside its payload", () => {
    const codec = binaryCodec();
    const buffer = new Uint8Array([1, 2, 3]);
    const encoded = codec.encode(buffer);
    buffer[0] = 9;
    expect(encoded).toEqual(new Uint8Array([1, 2, 3]));
    expect(codec.decode(Buffer.from("a large read buffer").subarray(2, 7)).buffer.byteLength).toBe(5);
  });

  it("refuses what are no bytes", () => {
    expect(() => Reflect.apply(binaryCodec().encode, undefined, ["text"])).toThrow(
      invalid(/accepted by the binary codec/),
    );
  });
});
