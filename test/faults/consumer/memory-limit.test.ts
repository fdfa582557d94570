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
});
