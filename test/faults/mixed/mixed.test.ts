import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { bundle } from "../../support/bundle.js";
import { runMixed } from "./run.js";

let program: Awaited<ReturnType<typeof bundle>>;
beforeAll(async () => {
  program = await bundle(fileURLToPath(new URL("programs/consumer.ts", import.meta.url)));
});
afterAll(() => program[Symbol.asyncDispose]());

// Any seed will do. These are fixed so that a failure is about what was changed, and begin with kinds of which each run has others.
it.each([
  ["single", "node-redis", 202],
  ["single", "ioredis", 112],
  ["sentinel", "node-redis", 278],
  ["cluster", "ioredis", 702],
] as const)(
  "3,000 messages survive 15 s of faults of all kinds on the topology %s through %s, and after each of them every consumer works again within 5 s",
  { timeout: 150_000 },
  async (topology, client, seed) => {
    const figures = await runMixed({
      topology,
      client,
      seconds: 15,
      rounds: 3,
      messages: 3_000,
      seed,
      partitions: topology === "cluster" ? 3 : 1,
      program: program.path,
    });
    expect(figures.problems).toEqual({});
    expect(figures.messages).toBe(3_000);
    // What is scheduled while no login is right is refused; one in twenty is cancelled.
    const refused = Object.entries(figures.failures).filter(([call]) => call.startsWith("schedule: "));
    const stored = refused.reduce((left, [, times]) => left - times, 3_000);
    expect(stored).toBeGreaterThan(1_000);
    expect(figures.delivered).toBeGreaterThan(0.9 * stored);
    expect(Object.keys(figures.faults).length).toBeGreaterThan(2);
  },
);
