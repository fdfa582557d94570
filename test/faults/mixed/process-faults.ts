import { setTimeout as sleep } from "node:timers/promises";
import { lease } from "../../chaos/chaos-message.js";
import type { Crew } from "./crew.js";
import { type Fault, fault } from "./fault.js";

const hour = 3_600_000;

/** What can befall a consumer process. */
export function processFaults(crew: Crew): Fault[] {
  return [
    fault("consumer killed", (random) => crew.replace(crew.any(random))),
    fault("consumer stopped", async (random) => {
      const process = crew.any(random);
      process.stop();
      await sleep(lease + 500 + random() * 2_000);
      process.continue();
    }),
    {
      name: "event loop blocked",
      strike: async (random) => ({ healedAt: await crew.any(random).block(lease + 500 + random() * 2_000) }),
    },
    {
      ...fault("clock stepped", async (random) => {
        const process = crew.any(random);
        const by = random() < 0.5 ? hour : -hour;
        process.stepClock(by);
        await sleep(1_000 + random() * 3_000);
        // At times it stays wrong: everybody has to work with it, too.
        if (random() < 0.5) process.stepClock(-by);
      }),
      isHarmless: true,
    },
  ];
}
