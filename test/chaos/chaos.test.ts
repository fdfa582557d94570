import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { bundle } from "../support/bundle.js";
import { runChaos } from "./run.js";
import { tableOf } from "./table.js";
import { judge } from "./verdict.js";

const program = (name: string) => bundle(fileURLToPath(new URL(`programs/${name}.ts`, import.meta.url)));

it("10,000 messages survive producers and consumers that are killed at random for 10 s, and orphans of every kind among them", async () => {
  await using producer = await program("producer");
  await using consumer = await program("consumer");
  // Any seed will do; a fixed one so that a failure is about what was changed.
  const seed = 20_261;
  const run = await runChaos({
    seconds: 10,
    messages: 10_000,
    seed,
    programs: { producer: producer.path, consumer: consumer.path },
  });
  const { findings, causes } = judge(run);
  expect(run.killed.size).toBeGreaterThan(2);
  expect(
    findings.filter(({ broken }) => broken.length > 0),
    `seed ${seed}\n${tableOf(findings, causes)}`,
  ).toEqual([]);
  expect(run.stories.byId.size).toBeGreaterThanOrEqual(10_000);
}, 120_000);
