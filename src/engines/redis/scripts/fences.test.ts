import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { directEvaluator } from "../../../../test/redis-engine/direct-evaluator.js";
import { type RawQueue, ScriptBench } from "../../../../test/redis-engine/raw-queue.js";
import { nodeRedis } from "../../../clients/node-redis.js";
import type { Connection } from "../../../clients/port.js";
import type { Evaluator } from "../../../scripting/script.js";
import { acknowledge } from "./acknowledge.js";
import { audit, repair } from "./audit.js";
import { bury } from "./bury.js";
import { cancel } from "./cancel.js";
import { counts } from "./counts.js";
import { extend } from "./extend.js";
import { get } from "./get.js";
import { release } from "./release.js";
import { reschedule } from "./reschedule.js";
import { retry } from "./retry.js";
import { schedule } from "./schedule.js";

let bench: ScriptBench;
let connection: Connection;
beforeAll(async () => {
  bench = await ScriptBench.start();
  connection = await nodeRedis({ url: bench.server.url }).connect(1_000);
});
afterAll(async () => {
  connection.destroy();
  await bench[Symbol.asyncDispose]();
});

const receipt = { id: "leased", token: "t", leaseUntil: 0 };
const message = { id: "new", payload: Buffer.from("x"), due: { delay: 1 }, onDuplicate: "keep" } as const;
type Call = (evaluator: Evaluator, queue: RawQueue) => Promise<unknown>;
const calls: [string, Call][] = [
  ["schedule", (evaluator, { keys }) => schedule(evaluator, keys, [message])],
  ["acknowledge", (evaluator, { keys }) => acknowledge(evaluator, keys, [receipt])],
  ["retry", (evaluator, { keys }) => retry(evaluator, keys, [{ ...receipt, delay: 0 }])],
  ["release", (evaluator, { keys }) => release(evaluator, keys, [receipt])],
  ["bury", (evaluator, { keys }) => bury(evaluator, keys, [{ ...receipt, reason: "r" }])],
  ["extend", (evaluator, { keys }) => extend(evaluator, keys, [receipt], 90_000)],
  ["cancel", (evaluator, { keys }) => cancel(evaluator, keys, ["scheduled"])],
  ["reschedule", (evaluator, { keys }) => reschedule(evaluator, keys, [{ id: "scheduled", due: { at: 8e12 } }])],
  ["get", (evaluator, { keys }) => get(evaluator, keys, ["scheduled"])],
  ["counts", (evaluator, { keys }) => counts(evaluator, keys)],
  ["audit", (evaluator, { keys }) => audit(evaluator, keys)],
  ["repair", (evaluator, { keys }) => repair(evaluator, keys)],
];

describe.each(calls)("%s", (_, call) => {
  const filled = async () => {
    const queue = bench.queue();
    const now = await bench.now();
    await queue.scheduled("scheduled", 9e12);
    await queue.leased("leased", { until: now + 60_000, due: now, token: "t", attempts: 5 });
    return queue;
  };
  const dump = async (queue: RawQueue) => [
    await queue.schedule(),
    await queue.hash("messages"),
    await queue.scores("leases"),
    await queue.hash("leased"),
    await queue.hash("failures"),
    await queue.scores("dead"),
    await queue.hash("state"),
  ];

  it("does nothing when it comes to run too late", async () => {
    const queue = await filled();
    const before = await dump(queue);
    const late = directEvaluator(connection, { notAfter: (await bench.now()) - 1 });
    await expect(call(late, queue)).rejects.toMatchObject({ code: "TOOLATE" });
    expect(await dump(queue)).toEqual(before);
  });

  it("does nothing in a queue that a newer version wrote", async () => {
    const queue = await filled();
    await bench.raw.command("HSET", queue.keys.state, "v", 2);
    const before = await dump(queue);
    await expect(call(bench.evaluator, queue)).rejects.toMatchObject({ code: "LAYOUT" });
    expect(await dump(queue)).toEqual(before);
  });
});

/** Those that may have to tell a consumer. */
const wakes = ["schedule", "retry", "release", "extend", "reschedule"];

describe.each(calls.filter(([name]) => wakes.includes(name)))("%s", (name, call) => {
  it("writes nothing when it may not publish", async () => {
    const queue = bench.queue();
    const now = await bench.now();
    await queue.scheduled("scheduled", 9e12);
    await queue.leased("leased", { until: now + 60_000, due: now, token: "t", attempts: 5 });
    await bench.raw.command("HSET", queue.keys.state, "duty", "d", "dutyAt", 9.5e12);
    const dump = async () => [await queue.schedule(), await queue.hash("messages"), await queue.hash("leased")];
    const before = await dump();
    await bench.raw.command("ACL", "SETUSER", name, "on", ">pw", "~*", "+@all", "-publish", "&*");
    const { port } = bench.server;
    const denied = await nodeRedis({ url: `redis://${name}:pw@127.0.0.1:${port}` }).connect(1_000);
    try {
      await expect(call(directEvaluator(denied), queue)).rejects.toThrow(/can't run this command|NOPERM/);
      expect(await dump()).toEqual(before);
    } finally {
      denied.destroy();
    }
  });
});
