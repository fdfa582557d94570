import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Place } from "./harness.js";

/** What a consuming process is for, as its only argument. */
export interface ConsumerAssignment extends Place {
  readonly subject: string;
  readonly concurrency: number;
}

const program = fileURLToPath(new URL("consume.mjs", import.meta.url));

/** Starts consumers, each in a process of its own, and resolves when all consume. */
export async function startConsumers(count: number, assignment: ConsumerAssignment): Promise<AsyncDisposable> {
  const children = Array.from({ length: count }, () =>
    fork(program, [JSON.stringify(assignment)], { stdio: ["ignore", "inherit", "inherit", "ipc"], execArgv: [] }),
  );
  const exits = children.map((child) => once(child, "exit"));
  const end = async () => {
    for (const child of children) if (child.connected) child.disconnect();
    await Promise.all(exits);
  };
  try {
    await Promise.all(children.map((child, at) => Promise.race([once(child, "message"), failure(child, exits[at])])));
  } catch (error) {
    await end();
    throw error;
  }
  return { [Symbol.asyncDispose]: end };
}

async function failure(child: ChildProcess, exited: Promise<unknown> | undefined): Promise<never> {
  await exited;
  throw new Error(`A consumer ended with status ${child.exitCode} before it consumed.`);
}
