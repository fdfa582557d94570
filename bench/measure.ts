/** One subject on one case, in a process of its own: measures each time that it is told to, and tells what it found. */
import { nodeRedis } from "../src/clients/node-redis.js";
import type { Harness } from "./harness.js";
import type { Answer, Assignment, Question } from "./measuring-process.js";
import type { Found } from "./scenario.js";
import { caseNamed } from "./scenarios.js";
import { subjectNamed } from "./subjects.js";

const assignment = JSON.parse(process.argv[2] ?? "") as Assignment;
const subject = subjectNamed(assignment.subject);
const chosen = caseNamed(assignment.case);
const connection = await nodeRedis({ url: assignment.url }).connect(3_000);
const openHarness = await subject.load?.();

let run = 0;

async function measure({ scale, windows }: Question): Promise<Found | readonly Found[]> {
  await connection.send(["FLUSHALL", "SYNC"]);
  run += 1;
  const harnesses: Harness[] = [];
  const queue = (name = "bench") => `${name}-${run}`;
  const stage = {
    subject,
    url: assignment.url,
    connection,
    scale,
    windows,
    // So nothing that a run left behind in this process meets another.
    queue,
    async open(name?: string) {
      if (openHarness === undefined) throw new Error(`${subject.name} cannot be driven from here.`);
      const harness = await openHarness({ url: assignment.url, queue: queue(name) });
      let closed: Promise<void> | undefined;
      const once = { ...harness, close: () => (closed ??= harness.close()) };
      harnesses.push(once);
      return once;
    },
  };
  // What earlier runs left on the heap is theirs.
  globalThis.gc?.();
  try {
    if (openHarness !== undefined) return await chosen.measure(stage);
    if (chosen.bare !== undefined) return await chosen.bare(stage);
    throw new Error(`${subject.name} has no part in ${chosen.name}.`);
  } finally {
    await Promise.all(harnesses.map((harness) => harness.close()));
  }
}

async function answer(question: Question): Promise<Answer> {
  try {
    return { found: [await measure(question)].flat() };
  } catch (error) {
    return { failure: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

process.on("message", (question: Question) => {
  void answer(question).then((said) => process.send?.(said));
});
// The end of the run, in good order or not; by `exit`, so that a profile is written.
process.on("disconnect", () => process.exit());
