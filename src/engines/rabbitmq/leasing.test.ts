import { describe, expect, it } from "vitest";
import { PunctualError } from "../../errors.js";
import { manualClock } from "../../testing/manual-clock.js";
import type { Arrival } from "./arrival.js";
import { Leasing } from "./leasing.js";
import type { Places } from "./places.js";
import type { Parcel, Sender } from "./sender.js";

/** A message under a lease of 5 s, and a broker that takes nothing for 10 s, as one at its memory alarm. */
async function blocked() {
  const clock = manualClock();
  const began = clock.now();
  const sent: Parcel[] = [];
  const trySending = async (parcels: readonly Parcel[]) => {
    if (clock.now() < began + 10_000) {
      await new Promise<void>((resolve) => void clock.runAfter(10_000, resolve));
      const failure = new PunctualError("outcome-unknown", "The broker takes no messages.");
      return { confirmed: parcels.map(() => false), failure };
    }
    sent.push(...parcels);
    return { confirmed: parcels.map(() => true), failure: undefined };
  };
  const places = { waiting: () => ({}), dead: () => ({}) } as unknown as Places;
  const leasing = new Leasing({ sender: { trySending } as unknown as Sender, places, clock });
  let isHeld = true;
  const arrival = {
    id: "a",
    envelope: { id: "a", payload: Buffer.from("x"), dueAt: began, failures: 0 },
    get isHeld() {
      return isHeld;
    },
    acknowledge() {
      isHeld = false;
      return true;
    },
  } as unknown as Arrival;
  const request = { token: "t", lease: 5_000, attempts: 5, limit: 1, consumer: "c" };
  const { until } = await leasing.grant([arrival], request);
  return { clock, leasing, sent, until, receipt: { id: "a", token: "t", leaseUntil: until } };
}

describe("A lease whose end is asked for, of a broker that takes nothing for longer than it lasts,", () => {
  it.each(["retry", "release", "bury"] as const)("ends after a %s that failed.", async (what) => {
    const { clock, leasing, sent, until, receipt } = await blocked();
    const { settling } = leasing;
    const moved = settling.move([receipt], (lease) => {
      if (what === "retry") return settling.failed(lease, 0, undefined, clock.now());
      return what === "release" ? settling.released(lease, 0) : settling.givenUp(lease, "poison", undefined);
    });
    const told = moved.catch((error: unknown) => error);
    await clock.advance(10_000);
    expect(await told).toMatchObject({ code: "outcome-unknown", details: { results: [undefined] } });
    await clock.advance(1);
    await leasing.settled();
    expect(sent.map(({ envelope }) => envelope)).toEqual([
      expect.objectContaining({ id: "a", failures: 1, dueAt: until }),
    ]);
    expect(leasing.leases.size).toBe(0);
  });
});
