import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FaultStage } from "./fault-stage.js";
import { Load } from "./load.js";

let stage: FaultStage;
beforeEach(async () => {
  stage = await FaultStage.start();
});
afterEach(() => stage[Symbol.asyncDispose]());

const crew = () => ["a", "b", "c"].map((name) => stage.consumer({ name }));

describe("When Redis is restarted", () => {
  it("while all are idle and only a far message is there, consumers come back by themselves and it is on time", async () => {
    const consumers = crew();
    await stage.producer.schedule("far", "succeed", 2_500);
    await stage.running(...consumers);
    await stage.outage(
      500,
      () => stage.server.kill(),
      () => sleep(800),
      () => stage.server.restart(),
    );
    const { history } = stage;
    // Nothing else is scheduled or asked: nothing but the consumers themselves can find out.
    const { at, dueAt } = await history.until(() => history.start("far"), "the far message is delivered");
    expect(at - dueAt).toBeLessThan(500);
    await history.until(() => history.isAcknowledged("far"), "it is acknowledged");
    for (const { name: consumer } of consumers) {
      expect(history.of("recovered", { consumer })).toHaveLength(1);
      expect(history.of("failed", { consumer }).map(({ code }) => code)).toEqual(["not-sent"]);
    }
    await stage.everyoneWorks(consumers);
    expect(await stage.problems()).toEqual([]);
  });

  it.each([
    ["in good order", () => stage.server.restart()],
    [
      "after a SIGKILL, from its append-only file,",
      () =>
        stage.outage(
          500,
          () => stage.server.kill(),
          () => sleep(500),
          () => stage.server.restart(),
        ),
    ],
  ])(
    "%s under a load of 5,000, nothing is lost, doubled, early or miscounted",
    { timeout: 30_000 },
    async (_, restart) => {
      const consumers = crew();
      await stage.running(...consumers);
      const load = await Load.start(stage, { messages: 5_000, lasts: 2_000 });
      await stage.history.until(() => stage.history.acknowledged.size > 500, "the load is under way");
      await restart();
      await stage.everyoneWorks(consumers);
      const told = await load.drained();
      // No call failed: all of them had time enough.
      for (const outcome of told)
        expect(["scheduled", "cancelled", "leased", "absent", "outcome-unknown"]).toContain(outcome);
      expect(await stage.problems({ schedulesRepeat: true })).toEqual([]);
      expect(await stage.queue.counts()).toMatchObject({ due: 0, leased: 0 });
    },
  );
});
