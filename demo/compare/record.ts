import { writeSync } from "node:fs";
import { readFile } from "node:fs/promises";

/** One step of a delivery, as the process that made it noted it. */
export interface Step {
  readonly kind: "started" | "ended";
  /** Which message of the run. */
  readonly number: number;
  readonly dueAt: number;
  /** The latest time by the clock of Redis at which it can have been. */
  readonly at: number;
}

const bytes = 3 * 8;

/** Notes a step in a file, before the message can be acknowledged: what was noted survives a SIGKILL. */
export function note(file: number, { kind, number, dueAt, at }: Step): void {
  const record = Float64Array.of(kind === "started" ? number : -number - 1, dueAt, at);
  writeSync(file, new Uint8Array(record.buffer));
}

/** All steps that were noted in a file. One that was cut off by a kill in the middle of its write is not there. */
export async function stepsOf(path: string): Promise<Step[]> {
  // One that was killed before it had a file noted nothing.
  const content = await readFile(path).catch(() => Buffer.alloc(0));
  const whole = content.subarray(0, content.length - (content.length % bytes));
  const values = new Float64Array(new Uint8Array(whole).buffer);
  return Array.from({ length: whole.length / bytes }, (_, index) => {
    const [number = 0, dueAt = 0, at = 0] = values.subarray(3 * index, 3 * index + 3);
    return number >= 0 ? { kind: "started", number, dueAt, at } : { kind: "ended", number: -number - 1, dueAt, at };
  });
}

/** How many steps a file of this size has. */
export function stepsIn(size: number): number {
  return Math.floor(size / bytes);
}

/** Steps of one process with their place among all: their time, which never goes back, as an estimate of a clock may. */
export function inOrder(steps: readonly Step[]): (Step & { readonly place: number })[] {
  let place = Number.NEGATIVE_INFINITY;
  return steps.map((step) => ({ ...step, place: (place = Math.max(place, step.at)) }));
}
