import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { MessageState } from "../../../src/engine.js";
import { redisEngine } from "../../../src/engines/redis/engine.js";
import { Queue } from "../../../src/index.js";
import { defineScript } from "../../../src/scripting/script.js";
import { queueKeys } from "../../../src/engines/redis/keys.js";
import { sources as ofEngine } from "../../../src/engines/redis/scripts/sources.generated.js";
import { sources as ofWaking } from "../../../src/waking/sources.generated.js";
import { type RedisServer, startRedisServer } from "../../../src/testing/redis-server.js";
import { runs } from "../../support/fault-proxy.js";
import type { ProxiedRequest, RequestFault } from "../../support/proxied-connection.js";
import { FaultStage } from "./fault-stage.js";
import type { Plan } from "./task.js";

let server: RedisServer;
let queues = 0;
beforeAll(async () => {
  server = await startRedisServer();
});
afterAll(() => server.stop());

const libraries = ["node-redis", "ioredis"] as const;

const sources = { ...ofEngine, leave: ofWaking.leave };
type ScriptName = keyof typeof sources;
type Cut = Extract<RequestFault, "cut-before-request" | "cut-before-reply">;

/** Whether the server ran the request that was cut. */
const ran = (cut: Cut) => cut !== "cut-before-request";

interface Scene {
  readonly cut: Cut;
  /** Cuts the next request that runs the script of the case, or the nth; resolves when that has come to pass. */
  strike(nth?: number): Promise<ProxiedRequest>;
}

const nothing = { scheduled: 0, due: 0, leased: 0, dead: 0, paused: false };
const far = 3_600_000;

/** For each script: a call that runs it, cut once, and what there must be afterwards: one effect, and a true answer. */
function casesOn(stage: FaultStage): Readonly<Record<ScriptName, (scene: Scene) => Promise<unknown>>> {
  /** One message is delivered; gives the consumer when its handler has started. */
  async function delivering(plan: Plan) {
    const consumer = stage.consumer({ name: "a" });
    await stage.running(consumer);
    await stage.producer.schedule("m", plan, 0);
    await stage.history.until(() => stage.history.start("m"), "it is delivered");
    return consumer;
  }

  const acknowledged = (...ids: string[]) =>
    stage.history.until(() => stage.history.isAcknowledged(...ids), `acknowledged: ${ids.join(", ")}`);
  const attempts = (id = "m") => stage.history.starts.get(id)?.map(({ attempt }) => attempt);
  const counts = () => stage.queue.counts();

  const listed = async (state: MessageState) =>
    (await stage.queue.list({ state })).messages.map((message) => message.id);

  /** Makes a dead letter. */
  async function deadLetter() {
    await delivering("bury");
    await stage.history.until(() => stage.history.buried.has("m"), "it is buried");
  }

  /** Three that wait are purged, and counted once. */
  async function purged(struck: Promise<unknown>) {
    const ids = ["m1", "m2", "m3"];
    await stage.producer.scheduleAll(ids.map((id) => ({ id, plan: "succeed", delay: far })));
    expect(await stage.queue.purge("waiting")).toBe(3);
    await struck;
    expect(await counts()).toEqual(nothing);
    for (const id of ids) stage.history.asked.delete(id);
  }

  /** A queue in order is found to be in order. */
  async function audited(struck: Promise<unknown>) {
    await stage.producer.schedule("m", "succeed", far);
    expect(await stage.queue.audit()).toMatchObject({ ok: true, problems: [] });
    await struck;
  }

  return {
    async schedule({ strike }) {
      const struck = strike();
      // The answer comes when no lost attempt can run any more, up to 2 s later; then it is still to be waiting.
      expect(await stage.producer.schedule("m", "succeed", 3_000)).toBe("scheduled");
      await struck;
      expect(await counts()).toEqual({ ...nothing, scheduled: 1 });
      stage.consumer({ name: "a" });
      await acknowledged("m");
      expect(attempts()).toEqual([1]);
    },

    async claim({ strike }) {
      const ids = Array.from({ length: 50 }, (_, n) => `m${n}`);
      await stage.producer.scheduleAll(ids.map((id) => ({ id, plan: "succeed", delay: 0 })));
      const struck = strike();
      stage.consumer({ name: "a", concurrency: 30 });
      await struck;
      await acknowledged(...ids);
      expect(ids.map((id) => attempts(id))).toEqual(ids.map(() => [1]));
      expect(stage.history.of("lost")).toEqual([]);
    },

    async acknowledge({ strike }) {
      const struck = strike();
      await delivering("succeed");
      await struck;
      await acknowledged("m");
      expect(attempts()).toEqual([1]);
      expect(await counts()).toEqual(nothing);
    },

    async retry({ strike }) {
      const struck = strike();
      await delivering("fail-once");
      await struck;
      await acknowledged("m");
      expect(attempts()).toEqual([1, 2]);
      expect(stage.history.of("settled").map(({ how }) => how)).toEqual(["retried", "acknowledged"]);
    },

    async release({ strike }) {
      const struck = strike();
      await delivering("release-once");
      await struck;
      await acknowledged("m");
      expect(attempts()).toEqual([1, 1]);
      expect(stage.history.of("settled").map(({ how }) => how)).toEqual(["released", "acknowledged"]);
    },

    async bury({ strike }) {
      const struck = strike();
      await delivering("bury");
      await struck;
      await stage.history.until(() => stage.history.buried.has("m"), "it is buried");
      expect(await counts()).toEqual({ ...nothing, dead: 1 });
      expect(await stage.queue.get("m")).toMatchObject({ attempt: 1, buried: { reason: "as planned" } });
      expect(attempts()).toEqual([1]);
    },

    async extend({ strike }) {
      const struck = strike();
      const before = Date.now();
      const consumer = await delivering("extend");
      await struck;
      await stage.history.until(() => stage.history.of("extended")[0], "its lease is extended");
      // The lease of 30 s becomes one of 60 s, from when the script ran.
      const leaseUntil = (await stage.queue.get("m"))?.leaseUntil?.getTime();
      expect(leaseUntil).toBeGreaterThanOrEqual(before + 60_000);
      expect(leaseUntil).toBeLessThanOrEqual(Date.now() + 60_000);
      consumer.letGo();
      await acknowledged("m");
      expect(attempts()).toEqual([1]);
    },

    async cancel({ cut, strike }) {
      await stage.producer.schedule("m", "succeed", far);
      const struck = strike();
      const outcome = await stage.producer.cancel("m");
      await struck;
      // Nobody can tell a message that this call has removed from one that never was.
      expect(outcome).toBe(ran(cut) ? "outcome-unknown" : "cancelled");
      expect(await counts()).toEqual(nothing);
      void strike();
      expect(await stage.producer.cancel("never there")).toBe("outcome-unknown");
      expect(await stage.producer.cancel("never there")).toBe("absent");
      const consumer = await delivering("hold");
      void strike();
      expect(await stage.producer.cancel("m")).toBe("leased");
      consumer.letGo();
      await acknowledged("m");
    },

    async reschedule({ strike }) {
      await stage.producer.schedule("m", "succeed", 0);
      const struck = strike();
      const asked = Date.now();
      expect(await stage.queue.reschedule("m", { delay: 600 })).toBe("rescheduled");
      await struck;
      const due = (await stage.queue.get("m"))?.dueAt.getTime() ?? 0;
      expect(due).toBeGreaterThanOrEqual(asked + 600);
      // Rounded up.
      expect(due).toBeLessThanOrEqual(Date.now() + 601);
      stage.consumer({ name: "a" });
      await acknowledged("m");
      expect(stage.history.start("m")?.dueAt).toBe(due);
      expect(attempts()).toEqual([1]);
    },

    async get({ strike }) {
      await stage.producer.schedule("m", "succeed", far);
      const struck = strike();
      expect(await stage.queue.get("m")).toMatchObject({ id: "m", state: "scheduled", attempt: 0 });
      await struck;
    },

    async counts({ strike }) {
      await stage.producer.schedule("m", "succeed", far);
      const struck = strike();
      expect(await counts()).toEqual({ ...nothing, scheduled: 1 });
      await struck;
    },

    async pause({ strike }) {
      const consumer = stage.consumer({ name: "a" });
      await stage.running(consumer);
      const struck = strike();
      await stage.queue.pause();
      await struck;
      await stage.producer.schedule("m", "succeed", 0);
      // It has claimed again, and was given nothing.
      const { lastClaimAt = 0 } = stage.history.health.get("a") ?? {};
      stage.proxy.cut();
      await stage.history.until(
        () => (stage.history.health.get("a")?.lastClaimAt ?? 0) > lastClaimAt,
        "it claims again",
      );
      expect(await counts()).toEqual({ ...nothing, due: 1, paused: true });
      expect(attempts()).toBeUndefined();
      await stage.queue.resume();
      await acknowledged("m");
    },

    async resume({ strike }) {
      const consumer = stage.consumer({ name: "a" });
      await stage.running(consumer);
      await stage.queue.pause();
      await stage.producer.schedule("m", "succeed", 0);
      const struck = strike();
      await stage.queue.resume();
      await struck;
      // Less than the 5 s after which it would look by itself.
      await stage.history.until(() => stage.history.isAcknowledged("m"), "it is woken", 2_000);
      expect(await counts()).toEqual(nothing);
    },

    async leave({ strike }) {
      const consumer = stage.consumer({ name: "a" });
      await stage.running(consumer);
      const books = () =>
        stage.raw(async (raw) => {
          const keys = queueKeys("punctual", stage.name);
          return [await raw.text("HLEN", keys.claims), await raw.text("HGET", keys.state, "duty")];
        });
      expect(await books()).toEqual([1, expect.stringMatching(/./)]);
      const struck = strike();
      await consumer.close();
      await struck;
      expect(await books()).toEqual([0, ""]);
    },

    async "list-waiting"({ strike }) {
      await stage.producer.schedule("m", "succeed", far);
      const struck = strike();
      expect(await listed("scheduled")).toEqual(["m"]);
      await struck;
    },

    async "list-ended"({ strike }) {
      // More than list-waiting puts in order by itself, so they are read in parts.
      const ids = Array.from({ length: 800 }, (_, n) => `m${n}`);
      await stage.producer.scheduleAll(ids.map((id) => ({ id, plan: "succeed", delay: far })));
      const { schedule, leases, leased } = queueKeys("punctual", stage.name);
      await stage.raw(async (raw) => {
        const members = (await raw.command("ZRANGE", schedule, 0, -1)) as Buffer[];
        // Sequence number; due at 0, 5 attempts at most; token.
        const lease = (member: Buffer) =>
          Buffer.concat([member.subarray(0, 7), Buffer.alloc(11), Buffer.from("\x05t")]);
        await raw.command("HSET", leased, ...members.flatMap((member) => [member.subarray(7), lease(member)]));
        await raw.command("ZADD", leases, ...members.flatMap((member) => [1, member.subarray(7)]));
        await raw.command("RENAME", schedule, `${schedule}-aside`);
      });
      const struck = strike();
      const { messages } = await stage.queue.list({ state: "due", limit: 1_000 });
      expect(messages.map((message) => message.id)).toEqual(ids);
      await struck;
      await stage.raw(async (raw) => {
        await raw.command("RENAME", `${schedule}-aside`, schedule);
        await raw.command("DEL", leases, leased);
      });
    },

    async "list-leased"({ strike }) {
      const consumer = await delivering("hold");
      const struck = strike();
      expect(await listed("leased")).toEqual(["m"]);
      await struck;
      consumer.letGo();
      await acknowledged("m");
    },

    async "list-dead"({ strike }) {
      await deadLetter();
      const struck = strike();
      expect(await listed("dead")).toEqual(["m"]);
      await struck;
    },

    async revive({ strike }) {
      await deadLetter();
      const struck = strike();
      expect(await stage.queue.revive(["m"], { delay: far })).toBe(1);
      await struck;
      expect(await counts()).toEqual({ ...nothing, scheduled: 1 });
      expect(await stage.queue.get("m")).toMatchObject({ state: "scheduled", attempt: 0 });
    },

    async remove({ strike }) {
      await deadLetter();
      const struck = strike();
      expect(await stage.queue.remove(["m", "never there"])).toBe(1);
      await struck;
      expect(await counts()).toEqual(nothing);
      stage.history.asked.delete("m");
      stage.history.starts.delete("m");
    },

    async reclaim({ strike }) {
      await purged(strike());
    },

    async purge({ strike }) {
      await purged(strike());
    },

    async enlist({ strike }) {
      const struck = strike();
      await using engine = redisEngine({ url: stage.proxy.url, partitions: 2 });
      const split = new Queue<string>(`${stage.name}-split`, { engine });
      expect(await split.schedule("once", { delay: far })).toMatchObject({ outcome: "scheduled" });
      await struck;
      expect(await split.counts()).toEqual({ ...nothing, scheduled: 1 });
    },

    async "audit-sizes"({ strike }) {
      await audited(strike());
    },

    async "audit-scan"({ strike }) {
      await audited(strike());
    },

    async "audit-check"({ strike }) {
      await audited(strike());
      // One whose index entry is gone is found by the first check, and mended by the second.
      await stage.raw((raw) => raw.command("DEL", queueKeys("punctual", stage.name).schedule));
      const struck = strike(2);
      expect(await stage.queue.repair()).toMatchObject({ ok: false, problems: [{ id: "m" }] });
      await struck;
      expect(await stage.queue.audit()).toMatchObject({ ok: true, problems: [] });
      expect(await counts()).toEqual({ ...nothing, due: 1 });
      expect(await stage.producer.cancel("m")).toBe("cancelled");
    },
  };
}

const table = Object.keys(sources).flatMap((name) =>
  // A request that never left is the same for every script, so one client is enough for it.
  (
    [
      ["cut-before-request", "node-redis"],
      ...libraries.map((library) => ["cut-before-reply", library] as const),
    ] as const
  ).map(([cut, library]) => ({ name: name as ScriptName, cut, library })),
);

describe("A connection that is cut once in a script has one effect and a true answer", () => {
  it.concurrent.each(table)("$name, $cut, $library", async ({ name, cut, library }) => {
    await using stage = await FaultStage.on(server, `cut-${++queues}`, library);
    const script = runs(defineScript(name, sources[name]));
    // Cut when it runs, not when the server says that it must be loaded first.
    await stage.raw((raw) => raw.command("SCRIPT", "LOAD", sources[name]));
    await casesOn(stage)[name]({ cut, strike: (nth) => stage.proxy.plan(cut, script, nth).happened });
    await stage.everyoneWorks(stage.open.length > 0 ? stage.open : [stage.consumer({ name: "late" })]);
    expect(await stage.problems()).toEqual([]);
  });
});
