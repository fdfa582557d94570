import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RawQueue, ScriptBench } from "../../../../test/redis-engine/raw-queue.js";
import type { Evaluator } from "../../../scripting/script.js";
import { asArray, asText } from "../../../scripting/reply.js";
import { list } from "./list.js";
import { firstEnded } from "./list-ended.js";
import { reclaim } from "./reclaim.js";

let bench: ScriptBench;
beforeAll(async () => {
  bench = await ScriptBench.start();
});
afterAll(() => bench[Symbol.asyncDispose]());

const lease = { due: 1, token: "t", attempts: 5 };
const numbers = Array.from({ length: 1_200 }, (_, n) => n);
// Against the order of ids, in which Redis has leases that end in one ms.
const idOf = (n: number) => `m${9_999 - n}`;
const sequenceOf = (n: number) => {
  const sequence = Buffer.alloc(7);
  sequence.writeUIntBE(n + 1, 1, 6);
  return sequence;
};
const start = Buffer.alloc(7);
const end = Buffer.alloc(7, 0xff);

/** 1,200 messages whose leases ended at `until`, of which every fourth used its last attempt, every sixth is reclaimed. */
async function crowd(until: number): Promise<{ queue: RawQueue; due: string[]; dead: string[] }> {
  const queue = bench.queue();
  await Promise.all(
    numbers.map((n) => {
      if (n % 6 === 5) return queue.scheduled(idOf(n), until);
      return queue.leased(idOf(n), { ...lease, until, attempts: n % 4 === 0 ? 1 : 5 });
    }),
  );
  const isDead = (n: number) => n % 6 !== 5 && n % 4 === 0;
  const due = numbers.filter((n) => !isDead(n)).map(idOf);
  return { queue, due, dead: numbers.filter(isDead).map(idOf).toSorted() };
}

async function paged(queue: RawQueue, state: "due" | "dead", limit: number, evaluator = bench.evaluator) {
  const seen: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await list(evaluator, queue.keys, { state, limit, cursor });
    expect(page.messages.length).toBeLessThanOrEqual(limit);
    seen.push(...page.messages.map(({ id }) => id));
    cursor = page.cursor;
  } while (cursor !== undefined);
  return seen;
}

/** Does something when part of a crowd was read: after each part, or only the last. */
const after = (which: "each" | "last", act: () => Promise<unknown>): Evaluator => ({
  clock: bench.evaluator.clock,
  async evaluate(script, ...rest) {
    const evaluation = await bench.evaluator.evaluate(script, ...rest);
    if (script.name === "list-ended") {
      const [, , next] = asArray(evaluation.reply, script.name);
      if (which === "each" || asText(next, script.name) === "") await act();
    }
    return evaluation;
  },
});

describe("Where too many leases ended in one ms to be put in order in one call", () => {
  it("list gives what is due in the order of scheduling, with what was reclaimed, in pages of any size", async () => {
    const until = (await bench.now()) - 100;
    const { queue, due, dead } = await crowd(until);
    await queue.scheduled("before", until - 1);
    await queue.leased("later", { ...lease, until: until + 1 });
    await queue.scheduled("latest", until + 2);
    for (const limit of [33, 250, 5_000]) {
      expect(await paged(queue, "due", limit)).toEqual(["before", ...due, "later", "latest"]);
    }
    expect(await paged(queue, "dead", 250)).toEqual(dead);
  });

  it("list gives each once when they are reclaimed while it looks through them", async () => {
    const { queue, due } = await crowd((await bench.now()) - 100);
    const evaluator = after("each", () => reclaim(bench.evaluator, queue.keys));
    expect(await paged(queue, "due", 250, evaluator)).toEqual(due);
  });

  it("list passes over those that are claimed anew while it looks through them, and no others", async () => {
    const now = await bench.now();
    const { queue, due } = await crowd(now - 100);
    const anew = [1, 3, 6].map(idOf);
    const deadlines = anew.flatMap((id) => [now + 60_000, id]);
    const evaluator = after("last", () => bench.raw.command("ZADD", queue.keys.leases, "XX", ...deadlines));
    expect(await paged(queue, "due", 250, evaluator)).toEqual(due.filter((id) => !anew.includes(id)));
  });

  it("a walk gives the first behind a place, and up to where it knows all", async () => {
    const until = (await bench.now()) - 100;
    const { queue } = await crowd(until);
    const leased = numbers.filter((n) => n % 6 !== 5 && n % 4 !== 0);
    const walk = async (time: number, tail: Buffer, limit: number) => {
      const { ended, upTo } = await firstEnded(bench.evaluator, queue.keys, { time, tail }, limit);
      return { ids: ended.map(({ id }) => id.toString()), upTo };
    };
    expect(await walk(until, start, 3)).toEqual({ ids: [1, 2, 3].map(idOf), upTo: sequenceOf(3) });
    expect(await walk(until, sequenceOf(3), 2)).toEqual({ ids: [6, 7].map(idOf), upTo: sequenceOf(7) });
    expect(await walk(until, start, 2_000)).toEqual({ ids: leased.map(idOf), upTo: end });
    expect(await walk(until, end, 9)).toEqual({ ids: [], upTo: end });
    expect(await walk(until + 1, start, 9)).toEqual({ ids: [], upTo: end });
  });
});
