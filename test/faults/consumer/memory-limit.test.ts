import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FaultStage } from "./fault-stage.js";

let stage: FaultStage;
beforeEach(async () => {
  stage = await FaultStage.start();
});
afterEach(() => stage[Symbol.asyncDispose]());

/** Redis measures its use only now and then, so the limit is set far below it. */
const limit = (bytes: number) => stage.raw((raw) => raw.command("CONFIG", "SET", "maxmemory", bytes));

describe("When Redis is out of memory", () => {
  it("schedule fails with storage-full, what is there is delivered, and all goes on when there is memory again", async () => {
    const { history, producer } = stage;
    const plans = ["succeed", "fail-once", "release-once", "bury", "extend"] as const;
    const ids = plans.flatMap((plan) => Array.from({ length: 10 }, (_, n) => ({ id: `${plan}-${n}`, plan })));
    // They come due one after the other, all of them at the limit.
    await producer.scheduleAll(ids.map(({ id, plan }, index) => ({ id, plan, delay: 300 + 10 * index })));
    await producer.scheduleAll([{ id: "far", plan: "succeed", delay: 3_600_000 }]);
    await limit(100_000);
    const consumers = ["a", "b"].map((name) => stage.consumer({ name }));
    await stage.running(...consumers);
    expect(await producer.schedule("refused-1", "succeed", 0)).toBe("storage-full");
    await history.until(() => plans.every((plan) => history.start(`${plan}-9`)), "all are delivered");
    expect(await producer.schedule("refused-2", "succeed", 60_000)).toBe("storage-full");
    expect(await producer.cancel("far")).toBe("cancelled");
    const isOver = ({ id }: { id: string }) => history.acknowledged.has(id) || history.buried.has(id);
    await history.until(() => {
      for (const consumer of consumers) consumer.letGo();
      return ids.every(isOver);
    }, "all are done");
    expect(history.of("failed")).toEqual([]);
    expect(history.of("refused")).toEqual([]);
    expect(await stage.queue.counts()).toEqual({ scheduled: 0, due: 0, leased: 0, dead: 10, paused: false });
    expect(history.starts.has("refused-1")).toBe(false);

    await limit(0);
    await stage.everyoneWorks(consumers);
    expect(await stage.problems()).toEqual([]);
  });

  it("leases that end are reclaimed, a pause is a pause, and whatever makes room does so", async () => {
    const { queue, producer } = stage;
    const schedule = (ids: readonly string[], delay: number) =>
      producer.scheduleAll(ids.map((id) => ({ id, plan: "succeed", delay })));
    const held = ["m1", "m2", "m3"];
    await schedule(held, 0);
    expect(await queue.receive({ max: 10, lease: "1s" })).toHaveLength(3);
    await schedule(["late"], 0);
    await schedule(["far", "farther"], 3_600_000);
    await limit(100_000);
    await queue.pause();
    expect(await queue.receive({ max: 10, wait: "1100ms" })).toEqual([]);
    await queue.resume();
    const again = await queue.receive({ max: 10, lease: "30s" });
    expect(again.map(({ id, attempt }) => [id, attempt])).toEqual([["late", 1], ...held.map((id) => [id, 2])]);
    const [late, first, second, third] = again;
    await late?.release({ delay: "1h" });
    await first?.bury("as planned");
    await second?.retry({ delay: "1h" });
    await third?.acknowledge();
    expect(await queue.remove(["m1"])).toBe(1);
    expect(await queue.cancelMany(["far", "m3", "m2"])).toEqual(["cancelled", "absent", "cancelled"]);
    expect(await queue.purge("waiting")).toBe(2);
    expect(await queue.counts()).toEqual({ scheduled: 0, due: 0, leased: 0, dead: 0, paused: false });
    expect(await queue.audit()).toMatchObject({ ok: true });
    expect(await producer.schedule("refused", "succeed", 0)).toBe("storage-full");
    expect(await queue.get("refused")).toBeUndefined();
  });
});
