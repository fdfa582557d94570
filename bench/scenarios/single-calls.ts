import { ratePerSecond } from "../bulk.js";
import { farOffPayloads } from "../far-off.js";
import { type Case, rate, type Scenario } from "../scenario.js";

/** How long it is measured, ms. */
const duration = 1_000;

function caseWith(inFlight: number): Case {
  return {
    name: `single-${inFlight}`,
    title: `Calls that schedule one message, ${inFlight.toLocaleString("en")} at a time`,
    figures: [rate],
    kinds: ["punctual", "peer", "limit"],
    // One at a time, a client is compiled only after some 3,000 calls, and takes three times as long before.
    ...(inFlight === 1 && { warmUpScale: 1 }),
    async measure({ open, scale }) {
      const harness = await open();
      const payloads = farOffPayloads(10_000);
      let next = 0;
      return {
        rate: await ratePerSecond(inFlight, scale * duration, async () => {
          const payload = payloads[next++ % payloads.length];
          if (payload !== undefined) await harness.schedule(payload);
          return 1;
        }),
      };
    },
  };
}

export const singleCalls: Scenario = {
  name: "single-calls",
  title: "Calls that schedule one message",
  cases: [caseWith(1), caseWith(1_000)],
};
