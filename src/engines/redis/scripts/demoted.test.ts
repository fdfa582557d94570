import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RawQueue, ScriptBench } from "../../../../test/redis-engine/raw-queue.js";
import { acknowledge } from "./acknowledge.js";
import { auditCheck } from "./audit-check.js";
import { bury } from "./bury.js";
import { cancel } from "./cancel.js";
import { claim } from "./claim.js";
import { extend } from "./extend.js";
import { leave } from "../../../waking/leave.js";
import { pause } from "./pause.js";
import { purge } from "./purge.js";
import { reclaim } from "./reclaim.js";
import { release } from "./release.js";
import { remove } from "./remove.js";
import { reschedule } from "./reschedule.js";
import { resume } from "./resume.js";
import { retry } from "./retry.js";
import { revive } from "./revive.js";
import { schedule } from "./schedule.js";

/** A node that was demoted in place lags behind the primary: what it finds, or does not find, is no answer. */

let bench: ScriptBench;
beforeAll(async () => {
  bench = await ScriptBench.start();
});
afterAll(() => bench[Symbol.asyncDispose]());

const receipt = { id: "absent", token: "t", leaseUntil: 0 };
const message = { payload: Buffer.from("new"), due: { at: 9e12 }, onDuplicate: "keep" } as const;
const request = { consumer: "c", token: "t", limit: 10, lease: 30_000, attempts: 5, order: 1 };
const due = { at: 8e12 };
const run = () => bench.evaluator;
const absent = { id: Buffer.from("absent"), sequence: Buffer.alloc(0) };
/** Each finds nothing to do. */
const calls: Record<string, (queue: RawQueue) => Promise<unknown>> = {
  schedule: ({ keys }) => schedule(run(), keys, [{ ...message, id: "there" }]),
  "claim, made again": ({ keys }) => claim(run(), keys, request),
  "claim, overtaken": ({ keys }) => claim(run(), keys, { ...request, order: 0 }),
  acknowledge: ({ keys }) => acknowledge(run(), keys, [receipt]),
  retry: ({ keys }) => retry(run(), keys, [{ ...receipt, delay: 0 }]),
  release: ({ keys }) => release(run(), keys, [receipt]),
  bury: ({ keys }) => bury(run(), keys, [{ ...receipt, reason: "r" }]),
  extend: ({ keys }) => extend(run(), keys, [receipt], 30_000),
  cancel: ({ keys }) => cancel(run(), keys, ["absent"]),
  reschedule: ({ keys }) => reschedule(run(), keys, [{ id: "absent", due }]),
  revive: ({ keys }) => revive(run(), keys, ["absent"], { due, operation: "o" }),
  "revive, made again": ({ keys }) => revive(run(), keys, ["dead"], { due, operation: "again" }),
  remove: ({ keys }) => remove(run(), keys, ["absent"], "o"),
  purge: ({ keys }) => purge(run(), keys, "waiting", "o"),
  reclaim: ({ keys }) => reclaim(run(), keys),
  repair: ({ keys }) => auditCheck(run(), keys, [absent], { repair: true }),
  pause: ({ keys }) => pause(run(), keys),
  resume: ({ keys }) => resume(run(), keys),
  leave: ({ keys }) => leave(run(), keys, "absent"),
};

describe("A node that was demoted in place gives no answer to", () => {
  it.each(Object.entries(calls))("%s", async (_, call) => {
    const queue = bench.queue();
    await queue.scheduled("due", 1);
    await claim(run(), queue.keys, request);
    await queue.scheduled("there", 9e12, { payload: message.payload });
    await queue.stored("dead", {});
    await bench.raw.command("ZADD", queue.keys.dead, 1, "dead");
    await revive(run(), queue.keys, ["dead"], { due, operation: "again" });
    await bench.raw.command("REPLICAOF", "127.0.0.1", "1");
    try {
      await expect(call(queue)).rejects.toMatchObject({ code: "READONLY" });
    } finally {
      await bench.raw.command("REPLICAOF", "NO", "ONE");
    }
  });
});
