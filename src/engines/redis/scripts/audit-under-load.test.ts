import { afterAll, beforeAll, expect, it } from "vitest";
import { type RawQueue, ScriptBench } from "../../../../test/redis-engine/raw-queue.js";
import type { ClaimResult } from "../../../engine.js";
import { acknowledge } from "./acknowledge.js";
import { audit, repair } from "./audit.js";
import { bury } from "./bury.js";
import { cancel } from "./cancel.js";
import { claim } from "./claim.js";
import { counts } from "./counts.js";
import { release } from "./release.js";
import { retry } from "./retry.js";
import { schedule } from "./schedule.js";

let bench: ScriptBench;
beforeAll(async () => {
  bench = await ScriptBench.start();
});
afterAll(() => bench[Symbol.asyncDispose]());

const total = 3_000;
const ids = Array.from({ length: total }, (_, n) => `m${n}`);

/** Schedules all, the last tenth far ahead, and cancels that again. */
async function produce({ keys }: RawQueue): Promise<void> {
  for (let first = 0; first < total; first += 50) {
    const far = first >= total * 0.9;
    await schedule(
      bench.evaluator,
      keys,
      ids.slice(first, first + 50).map((id) => ({
        id,
        payload: Buffer.from(id),
        due: far ? { at: 9e12 } : { delay: 0 },
        onDuplicate: "keep",
      })),
    );
    if (far) await cancel(bench.evaluator, keys, ids.slice(first, first + 50));
  }
}

/** Takes and settles in every way, until `isOver`. Each message is retried and released once; every tenth is buried. */
async function work({ keys }: RawQueue, consumer: string, { seen, isOver }: Progress): Promise<void> {
  for (let order = 1; !isOver(); order++) {
    const request = { consumer, token: `${consumer}${order}`, limit: 20, lease: 60_000, attempts: 5, order };
    const { messages, leaseUntil }: ClaimResult = await claim(bench.evaluator, keys, request);
    const receipts = messages.map(({ id }) => {
      const times = (seen.get(id) ?? 0) + 1;
      seen.set(id, times);
      return { id, times, token: request.token, leaseUntil };
    });
    const at = (times: number) => receipts.filter((receipt) => receipt.times === times);
    const last = receipts.filter(({ times }) => times >= 3);
    await Promise.all([
      retry(
        bench.evaluator,
        keys,
        at(1).map((receipt) => ({ ...receipt, delay: 1 })),
      ),
      release(bench.evaluator, keys, at(2)),
      bury(
        bench.evaluator,
        keys,
        last.filter(({ id }) => id.endsWith("7")).map((receipt) => ({ ...receipt, reason: "test" })),
      ),
      acknowledge(
        bench.evaluator,
        keys,
        last.filter(({ id }) => !id.endsWith("7")),
      ),
    ]);
  }
}

interface Progress {
  /** How often each message was delivered. */
  readonly seen: Map<string, number>;
  readonly isOver: () => boolean;
}

it("While messages are scheduled, claimed, settled and cancelled, audit finds only what was planted, and repair touches nothing else", async () => {
  const queue = bench.queue();
  const { keys } = queue;
  const seen = new Map<string, number>();
  const delivered = total * 0.9;
  const isOver = () => seen.size === delivered && [...seen.values()].every((times) => times >= 3);
  const working = Promise.all([
    produce(queue),
    ...["a", "b", "c"].map((consumer) => work(queue, consumer, { seen, isOver })),
  ]);

  let walks = 0;
  const planted: string[] = [];
  const found: string[] = [];
  while (!isOver()) {
    expect((await audit(bench.evaluator, keys)).problems).toEqual([]);
    const orphan = `orphan${walks}`;
    planted.push(orphan, `${orphan}-dead`);
    await bench.raw.command("ZADD", keys.dead, 5, `${orphan}-dead`);
    await bench.raw.command("ZADD", keys.leases, 9e12, orphan);
    found.push(...(await repair(bench.evaluator, keys)).problems.map(({ id }) => id));
    walks++;
  }
  await working;

  expect(walks).toBeGreaterThan(2);
  expect(found.toSorted()).toEqual(planted.toSorted());
  expect([...seen.values()].every((times) => times === 3)).toBe(true);
  const dead = ids.slice(0, delivered).filter((id) => id.endsWith("7")).length;
  expect(await counts(bench.evaluator, keys)).toEqual({ scheduled: 0, due: 0, leased: 0, dead, paused: false });
  expect(await audit(bench.evaluator, keys)).toMatchObject({ ok: true, checked: 3 * dead });
}, 20_000);
