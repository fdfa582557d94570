import { seededRandom } from "../../demo/seeded-random.js";
import { scheduleFor } from "../bulk.js";
import { randomPayloads } from "../payloads.js";
import { combinedRate } from "../redis-benchmark.js";
import { rate, type Scenario } from "../scenario.js";

const hour = 3_600_000;

/** How long it is measured, ms. */
const duration = 2_000;

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
        const random = seededRandom(1);
        const payloads = randomPayloads(50_000, { from: Date.now() + hour, spread: hour, random });
        return { rate: await scheduleFor(harness, payloads, scale * duration) };
      },
      bare: ({ url, scale }) =>
        combinedRate(url, "store", Math.ceil(500_000 * scale)).then((found) => ({ rate: found })),
    },
  ],
};
