import { expect, it } from "vitest";
import { HealthRecord } from "./health.js";

it("is starting until the store has answered", () => {
  expect(new HealthRecord().health("open", 0, 1e9)).toEqual({ state: "starting", active: 0 });
});

it("is running for 7.5 s after a reply and recovering after that", () => {
  const record = new HealthRecord();
  record.answered(1_000, 50);
  expect(record.health("open", 3, 50 + 7_500)).toEqual({ state: "running", active: 3, lastClaimAt: new Date(1_000) });
  expect(record.health("open", 3, 50 + 7_501).state).toBe("recovering");
});

it("is recovering from the moment at which the store is out of reach until it answers", () => {
  const record = new HealthRecord();
  record.interrupted();
  expect(record.health("open", 0, 0).state).toBe("recovering");
  record.answered(0, 0);
  expect([record.isOut, record.health("open", 0, 0).state]).toEqual([false, "running"]);
  record.interrupted();
  expect([record.isOut, record.health("open", 0, 0).state]).toEqual([true, "recovering"]);
});

it("says that it closes and is closed, whatever the store does", () => {
  const record = new HealthRecord();
  record.interrupted();
  expect([record.health("closing", 1, 0).state, record.health("closed", 0, 0).state]).toEqual(["closing", "closed"]);
});

it("is recovering although a claim was answered, as long as the watch hears nothing", () => {
  const record = new HealthRecord();
  record.interrupted();
  record.answered(1_000, 0, false);
  expect(record.health("open", 0, 0)).toEqual({ state: "recovering", active: 0, lastClaimAt: new Date(1_000) });
  record.answered(2_000, 0, true);
  expect(record.health("open", 0, 0).state).toBe("running");
});
