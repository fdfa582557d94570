import { scheduleFor } from "../bulk.js";
import { farOffPayloads } from "../far-off.js";
import { storingRate } from "../redis-benchmark.js";
import { rate, type Scenario } from "../scenario.js";

/** How long it is measured, ms. */
const duration = 1_000;

export const bulkSchedule: Scenario = {
  name: "bulk-schedule",
  title: "Bulk schedule",
  cases: [
    {
      name: "bulk-schedule",
      title: "Bulk schedule of messages that are due within two hours",
      figures: [rate],
      kinds: ["punctual", "peer", "limit", "scheme"],
      async measure({ open, scale }) {
        const harness = await open();
        return { rate: await scheduleFor(harness, farOffPayloads(50_000), scale * duration) };
      },
      bare: async ({ url, scale }) => ({ rate: await storingRate(url, Math.ceil(250_000 * scale)) }),
    },
  ],
};
