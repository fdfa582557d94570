import { describe, expect, it } from "vitest";
import type { NewMessage } from "../engine.js";
import { decodeMember, encodeMember, redelivered } from "./member.js";

const message: NewMessage = {
  id: "order:\u{1F389}\0",
  payload: Uint8Array.from([0, 255, 10, 13]),
  due: { delay: 0 },
  onDuplicate: "keep",
};

describe("a member", () => {
  it("gives back the whole message, and nothing that was not given", () => {
    const headers = { traceparent: "00-1", __proto__x: "y" };
    const { id, payload, attempts, headers: kept } = decodeMember(encodeMember({ ...message, attempts: 7, headers }));
    expect([id, [...payload], attempts, kept]).toEqual([message.id, [0, 255, 10, 13], 7, headers]);
    const plain = decodeMember(encodeMember(message));
    expect([plain.attempts, plain.headers, plain.expiresAt(5), plain.delivered]).toEqual([
      undefined,
      undefined,
      undefined,
      0,
    ]);
  });

  it("is the same bytes for the same message, and others for the same payload under another id", () => {
    expect(encodeMember(message)).toEqual(encodeMember({ ...message, due: { at: 99 } }));
    expect(encodeMember(message)).not.toEqual(encodeMember({ ...message, id: "other" }));
  });

  it("expires so long after its due time, and after a redelivery so long after the first one", () => {
    const member = decodeMember(encodeMember({ ...message, expiresIn: 50 }));
    expect(member.expiresAt(1_000)).toBe(1_050);
    const again = decodeMember(redelivered(member, 1_000, 1));
    expect([again.delivered, again.expiresAt(7_000)]).toEqual([1, 1_050]);
    const third = decodeMember(redelivered(again, 7_000, 2));
    expect([third.delivered, third.expiresAt(9_000), [...third.payload]]).toEqual([2, 1_050, [0, 255, 10, 13]]);
  });

  it("is not made from bytes that somebody else put there", () => {
    for (const bytes of ["", "{}", '{"job":"of another program"}']) {
      expect(() => decodeMember(Buffer.from(bytes))).toThrow("not in the format of this library");
    }
  });
});
