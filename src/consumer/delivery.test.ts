import { inspect } from "node:util";
import { expect, it } from "vitest";
import { LeasedDelivery } from "./delivery.js";

function delivery() {
  const refuse = () => Promise.reject(new Error("This test settles nothing."));
  const settler = {
    acknowledge: refuse,
    finish: () => {},
    retry: refuse,
    release: refuse,
    bury: refuse,
    extend: refuse,
  };
  const claimed = { id: "a", payload: Buffer.from("{}"), dueAt: 1_000, attempt: 1, attempts: 5, headers: { h: "v" } };
  return new LeasedDelivery<object>(claimed, "secret token", 31_000, settler);
}

it("shows in a log what a message is, and not how it is kept", () => {
  const message = delivery();
  message.begin({ orderId: "A1" }, 1_007);
  expect(JSON.parse(JSON.stringify({ message }))).toEqual({
    message: {
      id: "a",
      payload: { orderId: "A1" },
      dueAt: "1970-01-01T00:00:01.000Z",
      attempt: 1,
      attempts: 5,
      headers: { h: "v" },
      lateness: 7,
    },
  });
  const shown = inspect(message);
  for (const part of ["Delivery {", "id: 'a'", "orderId: 'A1'", "1970-01-01T00:00:01.000Z", "lateness: 7", "h: 'v'"]) {
    expect(shown).toContain(part);
  }
  expect(shown).not.toContain("token");
});

it("can be shown before its payload was decoded", () => {
  expect(inspect(delivery())).toContain("payload: undefined");
});

it("keeps the bytes of its payload no longer than until they are decoded", () => {
  const message = delivery();
  expect(message.encodedPayload).toEqual(Buffer.from("{}"));
  message.begin({}, 1_000);
  expect(message.encodedPayload).toHaveLength(0);
});
