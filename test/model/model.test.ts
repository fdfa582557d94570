import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { defineScript } from "../../src/scripting/script.js";
import { sources } from "../../src/engines/redis/scripts/sources.generated.js";
import { type RedisServer, startRedisServer } from "../../src/testing/redis-server.js";
import { type Sequence, sequences } from "./operations.js";
import { type Grounds, runSequence } from "./run-sequence.js";
import { steppedClock } from "./stepped-clock.js";
import { TimedRedis, timedScript } from "./timed-redis.js";

/**
 * The Redis engine against the memory engine, which is the specification. `PUNCTUAL_RUNS`: how many sequences, 1,000 unless
 * told. `PUNCTUAL_SEED`: a whole number from which all of them follow; without it each run tries others.
 */
const runs = Number(process.env["PUNCTUAL_RUNS"] ?? 1_000);
const seed = Number(process.env["PUNCTUAL_SEED"] ?? Math.floor(Math.random() * 2 ** 31));

/** Sequences that follow from one seed: few enough to be repeated for the one that failed. */
const batch = 1_000;

let server: RedisServer;
let grounds: Grounds;
beforeAll(async () => {
  server = await startRedisServer();
  const clock = steppedClock(0);
  grounds = { clock, redis: await TimedRedis.connect(`unix://${server.socketPath}`, clock) };
});
afterAll(async () => {
  await grounds.redis[Symbol.asyncDispose]();
  await server.stop();
});

/** How long a sequence that failed is shortened, ms. */
const patience = 30_000;
let failedAt = Infinity;

/** Long after the first failure nothing fails any more, so that the shortest sequence until then is told. */
async function untilShort(run: () => Promise<void>): Promise<void> {
  if (performance.now() > failedAt + patience) return;
  try {
    await run();
  } catch (error) {
    failedAt = Math.min(failedAt, performance.now());
    throw error;
  }
}

/** What a failure tells: how to see it again, and the shortest sequence that shows it. */
function report(seedOfBatch: number, { counterexample, errorInstance, numShrinks }: fc.RunDetails<[Sequence]>): string {
  const [sequence] = counterexample ?? [];
  return [
    `The engines differ. Repeat it with PUNCTUAL_SEED=${seedOfBatch}, or npm run test:model -- --seed ${seedOfBatch}`,
    `After ${numShrinks} steps of shortening: ${JSON.stringify(sequence?.setting)}`,
    ...(sequence?.operations ?? []).map((operation, index) => `  ${index + 1}. ${JSON.stringify(operation)}`),
    errorInstance instanceof Error ? (errorInstance.stack ?? errorInstance.message) : String(errorInstance),
  ].join("\n");
}

describe("The Redis engine and the memory engine", () => {
  it(
    `answer the same to sequences of all operations while time passes (seed ${seed})`,
    async () => {
      for (let done = 0; done < runs; done += batch) {
        const seedOfBatch = seed + done / batch;
        const property = fc.asyncProperty(sequences, (sequence) => untilShort(() => runSequence(sequence, grounds)));
        const numRuns = Math.min(batch, runs - done);
        const details = await fc.check(property, { seed: seedOfBatch, numRuns });
        expect(details.failed ? report(seedOfBatch, details) : "no difference").toBe("no difference");
        if (runs > batch) console.log(`${done + numRuns} sequences, the last of seed ${seedOfBatch}`);
      }
    },
    Math.max(120_000, runs * 200),
  );
});

describe("Every script", () => {
  it.each(Object.entries(sources))("%s takes the time of the model, and nothing else is changed", (name, source) => {
    const timed = timedScript(defineScript(name, source), "k");
    expect(timed.source).not.toBe(source);
    expect(timed.source.replace('redis.call("HMGET", "k", "s", "us")', 'redis.call("TIME")')).toBe(source);
    expect(timed.sha1).not.toBe(defineScript(name, source).sha1);
  });

  it("that asks for the time twice, or otherwise, is refused", () => {
    const ask = 'redis.call("TIME")';
    for (const source of ["", ask + ask, `${ask} redis.pcall('time')`]) {
      expect(() => timedScript(defineScript("s", source), "k")).toThrow(/asks for the time/);
    }
  });
});
