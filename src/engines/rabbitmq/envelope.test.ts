import { describe, expect, it } from "vitest";
import { type Envelope, envelopeFrom, headersOf } from "./envelope.js";

const payload = Buffer.from([0, 255]);

describe("An envelope", () => {
  it("comes out of the headers of AMQP as it went in", () => {
    const envelope: Envelope = {
      id: "ä \u{1F389}".padEnd(200, "x"),
      payload,
      dueAt: 8.64e15,
      turn: 2 ** 52 + 1,
      failures: 3,
      attempts: 7,
      expiresAt: 1,
      headers: { "a b": 'c"\n' },
      lastError: { name: "Error", message: "no", stack: undefined, at: 5 },
      buried: { reason: "poison", at: 6 },
    };
    expect(envelopeFrom(payload, headersOf(envelope), "other")).toEqual(envelope);
  });

  it("of a message that somebody else published is due at once and has the name that it is given", () => {
    for (const headers of [
      {},
      { "punctual-id": 5, "punctual-due": "soon", "punctual-headers": "{", "punctual-error": "[]" },
    ]) {
      expect(envelopeFrom(payload, headers, "unnamed-1")).toMatchObject({
        id: "unnamed-1",
        dueAt: 0,
        failures: 0,
        headers: undefined,
        lastError: undefined,
      });
    }
  });
});
