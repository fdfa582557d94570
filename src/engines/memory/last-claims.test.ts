import { expect, it } from "vitest";
import { LastClaims } from "./last-claims.js";

function given(token: string, leaseUntil = 1_000) {
  return { token, leaseUntil, ids: [token] };
}

it("recalls the last claim of each consumer by its token while its leases last, and no other", () => {
  const claims = new LastClaims();
  claims.remember("a", given("a1"), 0);
  claims.remember("b", given("b1"), 0);
  claims.remember("a", given("a2"), 0);
  expect(claims.recall("a", "a2", 999)?.ids).toEqual(["a2"]);
  expect(claims.recall("b", "b1", 999)?.ids).toEqual(["b1"]);
  expect(claims.recall("a", "a1", 0)).toBeUndefined();
  expect(claims.recall("b", "a2", 0)).toBeUndefined();
  expect(claims.recall("b", "b1", 1_000)).toBeUndefined();
  claims.forget("a");
  expect(claims.recall("a", "a2", 0)).toBeUndefined();
});

it("lets a claim that gave nothing run again", () => {
  const claims = new LastClaims();
  claims.remember("a", given("a1"), 0);
  claims.remember("a", { token: "a2", leaseUntil: 1_000, ids: [] }, 0);
  expect(claims.recall("a", "a2", 0)).toBeUndefined();
  expect(claims.recall("a", "a1", 0)).toBeUndefined();
});

it("drops consumers whose leases ended a minute ago, and only those", () => {
  const claims = new LastClaims();
  claims.remember("gone", given("g", 1_000), 0);
  claims.remember("alive", given("old", 1_000), 0);
  claims.remember("alive", given("new", 50_000), 40_000);
  claims.remember("other", given("o", 90_000), 60_999);
  expect(claims.recall("gone", "g", 0)).toBeDefined();
  claims.remember("other", given("p", 90_000), 61_000);
  expect(claims.recall("gone", "g", 0)).toBeUndefined();
  expect(claims.recall("alive", "new", 0)).toBeDefined();
});
