import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpus } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { beforeAll, describe, expect, it } from "vitest";
import { root } from "../source-files.js";
import { workOf } from "../support/redis-work.js";
import { StallWatch } from "../support/stall-watch.js";
import { withRedis } from "../support/with-redis.js";

/** The demo in full size, as whoever tries the library out first sees it. */

const script = join(root, "scripts", "demo.mjs");
const program = join(root, ".build", "demo", "demo", "main.js");

const redis = withRedis();
/** What holds up the machine is watched on a Redis that has nothing to do: that of the demo is to be measured, too. */
const idle = withRedis();

interface Figures {
  readonly latenessMs: { readonly p99: number };
}

/** Runs a program to its end. Gives its last line, how long it took, and how long the processor worked for it, ms. */
async function run(file: string, args: readonly string[]): Promise<{ last: string; ms: number; work: number }> {
  // In the process itself, since nobody else is told.
  const tellWork = `process.on("exit", () => console.error("\\nwork " + process.cpuUsage().user + " " + process.cpuUsage().system))`;
  const start = performance.now();
  const started = spawn(process.execPath, ["--import", `data:text/javascript,${tellWork}`, file, ...args], {
    env: { ...process.env, REDIS_URL: redis.url },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 60_000,
  });
  let stdout = "";
  let stderr = "";
  started.stdout.on("data", (some) => (stdout += String(some)));
  started.stderr.on("data", (some) => (stderr += String(some)));
  const [status] = (await once(started, "close")) as [number | null];
  expect({ status, stderr }).toMatchObject({ status: 0 });
  const [, user, system] = /^work (\d+) (\d+)$/m.exec(stderr) ?? [];
  const last = stdout.trimEnd().split("\n").at(-1) ?? "";
  return { last, ms: performance.now() - start, work: (Number(user) + Number(system)) / 1_000 };
}

/** How long the processors of this machine worked so far, ms. */
const workOfAll = () => cpus().reduce((sum, { times: { user, nice, sys, irq } }) => sum + user + nice + sys + irq, 0);

/** How long they worked for this test and its servers. */
async function ownWork(): Promise<number> {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000 + (await workOf(redis.raw)) + (await workOf(idle.raw));
}

/** One run of the demo, and what others did meanwhile. */
async function measure() {
  await using stall = new StallWatch(() => idle.raw.command("PING"));
  const before = { all: workOfAll(), own: await ownWork() };
  const { last, ms, work } = await run(program, ["--json"]);
  const others = Math.max(0, workOfAll() - before.all - work - ((await ownWork()) - before.own));
  // 100,000 messages in 5 s: one that is held up for 50 ms makes 1 in 100 late, and those after it wait for the processor.
  const isQuiet = others < ms * cpus().length * 0.05 && stall.longest() < 25;
  return { figures: JSON.parse(last) as Figures, ms, others, isQuiet };
}

// The script builds the program, so that the runs are measured without the build.
beforeAll(() => run(script, ["--help"]), 60_000);

describe("npm run demo -- --json", () => {
  it("loses, doubles and hurries none of 100,000, is less than 25 ms late in 99 of 100, and over in 20 s", async () => {
    for (let runs = 1; ; runs++) {
      const { figures, ms, others, isQuiet } = await measure();
      expect(figures).toMatchObject({ engine: "redis", scheduled: 100_000, lost: 0, duplicated: 0, early: 0 });
      // A run on a busy machine proves nothing when it is late, so there is another one.
      if (figures.latenessMs.p99 >= 25 && !isQuiet && runs < 4) continue;
      // Nothing waits for others longer than these work.
      const allowed = isQuiet ? 0 : others;
      expect(figures.latenessMs.p99).toBeLessThan(25 + allowed);
      expect(ms).toBeLessThan(20_000 + allowed);
      return;
    }
  }, 240_000);
});
