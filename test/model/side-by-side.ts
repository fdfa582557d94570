import { PunctualError } from "../../src/errors.js";
import type { EngineQueue } from "../../src/engine.js";

/** The name of an engine under comparison. */
export type Side = "memory" | "redis";

/** A queue of each engine, opened in the same way, and the ids that fell out of their bounds since they were last asked. */
export interface Pair {
  readonly memory: EngineQueue;
  readonly redis: EngineQueue;
}

/** The answers of both engines to one call. */
export interface Answers<Answer> {
  readonly memory: Answer;
  readonly redis: Answer;
}

/** Two engines gave different answers. */
export class Difference extends Error {
  override readonly name = "Difference";
}

/** Makes one call on both engines; a rejection is an answer, too, by its code. */
export async function onBoth<Answer>(
  pair: Pair,
  call: (queue: EngineQueue, side: Side) => Promise<Answer>,
): Promise<Answers<Answer | { rejected: string }>> {
  const answer = async (side: Side) => {
    try {
      return await call(pair[side], side);
    } catch (error) {
      if (error instanceof PunctualError) return { rejected: error.code };
      throw error;
    }
  };
  const [memory, redis] = await Promise.all([answer("memory"), answer("redis")]);
  return { memory, redis };
}

/** Whether a call was answered rather than rejected. */
export function isAnswer<Answer>(answer: Answer | { rejected: string }): answer is Answer {
  return !(typeof answer === "object" && answer !== null && "rejected" in answer);
}

/** Throws a `Difference` unless the answers are equal. */
export function compare(what: string, { memory, redis }: Answers<unknown>): void {
  const [inMemory, inRedis] = [text(memory), text(redis)];
  if (inMemory !== inRedis) throw new Difference(`${what}\n  memory: ${inMemory}\n  redis:  ${inRedis}`);
}

/** A value as text: bytes as text, keys in order, without what is undefined. */
function text(value: unknown): string {
  return (
    JSON.stringify(value, (_, part: unknown) => {
      if (part === undefined || part === null || typeof part !== "object" || Array.isArray(part)) return part;
      // A Buffer has been turned into an object by its toJSON before it comes here.
      if (part instanceof Uint8Array) return `bytes ${Buffer.from(part).toString("hex")}`;
      if ("type" in part && part.type === "Buffer" && "data" in part)
        return `bytes ${Buffer.from(part.data as number[]).toString("hex")}`;
      return Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)));
    }) ?? "undefined"
  );
}
