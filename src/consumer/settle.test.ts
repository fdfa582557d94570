import { describe, expect, it } from "vitest";
import type { Receipt, Settlement } from "../engine.js";
import { type ErrorCode, PunctualError } from "../errors.js";
import { manualClock } from "../testing/manual-clock.js";
import { settlePersistently } from "./settle.js";

const failed = (code: ErrorCode, details = {}) => new PunctualError(code, `It failed: ${code}.`, { details });

/** Settles two leases that last 10 s against a store that answers as scripted; a number lets that many ms pass first. */
async function settle(script: (Settlement[] | PunctualError | Error)[], { until = 10_000 } = {}) {
  const clock = manualClock(0);
  const calls: string[] = [];
  const receipts: Receipt[] = ["a", "b"].map((id) => ({ id, token: "t", leaseUntil: until }));
  const call = async (open: readonly Receipt[]) => {
    calls.push(open.map(({ id }) => id).join(""));
    const answer = script.shift() ?? failed("not-sent");
    if (answer instanceof Error) throw answer;
    return answer;
  };
  let outcomes: unknown;
  const done = settlePersistently(call, receipts, clock, () => 0).then((answer) => (outcomes = answer));
  const answered = () => outcomes !== undefined;
  for (let passed = 0; passed < 20_000 && !answered(); passed += 50) await clock.advance(50);
  await done;
  return { outcomes, calls, seconds: clock.now() / 1_000 };
}

describe("settlePersistently", () => {
  it("answers in one call when all is well", async () => {
    expect(await settle([["settled", "lease-lost"]])).toMatchObject({
      outcomes: ["settled", "lease-lost"],
      calls: ["ab"],
    });
  });

  it.each(["not-sent", "outcome-unknown", "refused", "misconfigured"] as const)(
    "repeats a call that failed with %s",
    async (code) => {
      const { outcomes, calls } = await settle([failed(code), failed(code), ["settled", "settled"]]);
      expect(outcomes).toEqual(["settled", "settled"]);
      expect(calls).toEqual(["ab", "ab", "ab"]);
    },
  );

  it("takes a lease that is gone after a lost reply for settled: nobody else could end it before its time", async () => {
    const { outcomes } = await settle([failed("outcome-unknown"), ["lease-lost", "settled"]]);
    expect(outcomes).toEqual(["settled", "settled"]);
  });

  it("takes a lease that is gone for lost when the call before had not been sent", async () => {
    const { outcomes } = await settle([failed("not-sent"), ["lease-lost", "settled"]]);
    expect(outcomes).toEqual(["lease-lost", "settled"]);
  });

  it("does not claim to know who ended a lease that is gone about its end", async () => {
    const { outcomes } = await settle([failed("outcome-unknown"), ["lease-lost", "settled"]], { until: 140 });
    expect(outcomes).toEqual(["outcome-unknown", "settled"]);
  });

  it("repeats only what is not known", async () => {
    const { outcomes, calls } = await settle([failed("not-sent", { results: ["settled", undefined] }), ["settled"]]);
    expect(outcomes).toEqual(["settled", "settled"]);
    expect(calls).toEqual(["ab", "b"]);
  });

  it("gives up when the lease has ended, with the failure, or with outcome-unknown when a reply was lost", async () => {
    const unsent = await settle([]);
    expect(unsent.outcomes).toEqual([
      expect.objectContaining({ code: "not-sent" }),
      expect.objectContaining({ code: "not-sent" }),
    ]);
    expect(unsent.seconds).toBeGreaterThanOrEqual(10);
    expect(unsent.seconds).toBeLessThan(11.1);
    expect((await settle([failed("outcome-unknown")])).outcomes).toEqual(["outcome-unknown", "outcome-unknown"]);
  });

  it("takes what the store does not answer for unknown", async () => {
    expect((await settle([["settled"]])).outcomes).toEqual(["settled", "outcome-unknown"]);
  });

  it("does not repeat what cannot succeed", async () => {
    const closed = await settle([failed("closed", { results: [undefined, "settled"] })]);
    expect(closed.calls).toEqual(["ab"]);
    expect(closed.outcomes).toEqual([expect.objectContaining({ code: "closed", details: {} }), "settled"]);
    const fault = new TypeError("a fault of the engine");
    expect((await settle([fault])).outcomes).toEqual([
      expect.objectContaining({ code: "internal", cause: fault }),
      expect.objectContaining({ code: "internal" }),
    ]);
  });
});
