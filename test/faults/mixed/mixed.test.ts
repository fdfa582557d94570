import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { bundle } from "../../support/bundle.js";
import { clients } from "./grounds.js";
import { runMixed } from "./run.js";

let program: Awaited<ReturnType<typeof bundle>>;
beforeAll(async () => {
  program = await bundle(fileURLToPath(new URL("programs/consumer.ts", import.meta.url)));
});
afterAll(() => program[Symbol.asyncDispose]());

it.each(clients)(
  "3,000 messages survive 15 s of faults of all kinds through %s, and after each of them every consumer works again within 5 s",
  { timeout: 90_000 },
  async (client) => {
    const figures = await runMixed({
      topology: "single",
      client,
      seconds: 15,
      messages: 3_000,
      // Any seed will do; a fixed one so that a failure is about what was changed.
      seed: client === "ioredis" ? 4 : 3,
      partitions: 1,
      program: program.path,
    });
    expect(figures.problems).toEqual({});
    expect(figures.messages).toBe(3_000);
    expect(figures.delivered).toBeGreaterThan(2_500);
    expect(Object.keys(figures.faults).length).toBeGreaterThan(2);
  },
);
