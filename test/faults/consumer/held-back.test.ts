import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sources } from "../../../src/engines/redis/scripts/sources.generated.js";
import { defineScript } from "../../../src/scripting/script.js";
import { type RedisServer, startRedisServer } from "../../../src/testing/redis-server.js";
import { runs } from "../../support/fault-proxy.js";
import { FaultStage } from "./fault-stage.js";

let server: RedisServer;
beforeAll(async () => {
  server = await startRedisServer();
});
afterAll(() => server.stop());

const far = 3_600_000;
/** How long it is held up, ms. */
const minute = 60_000;

describe.concurrent.each(["node-redis", "ioredis"] as const)(
  "What was held up on its way through %s for a minute",
  (library) => {
    it(
      "does nothing when it arrives: nothing is stored again that was done, and no new message of that id is cancelled",
      {
        timeout: 2 * minute,
      },
      async () => {
        await using stage = await FaultStage.on(server, `held-${library}`, library);
        const { history, producer, proxy } = stage;

        stage.consumer({ name: "a" });
        await producer.schedule("again", "succeed", far);
        await producer.schedule("not cancelled", "succeed", far);
        const cancel = proxy.plan("hold", runs(defineScript("cancel", sources.cancel)));
        const cancelled = producer.cancel("again");
        await cancel.happened;
        // Behind it on its connection. Both calls are repeated on another one when this has been silent for 2 s.
        const once = producer.schedule("once", "succeed", 0);
        const released = sleep(minute);
        expect(await once).toBe("scheduled");
        expect(await cancelled).toBe("cancelled");
        await history.until(() => history.isAcknowledged("once"), "acknowledged: once");
        history.asked.delete("again");
        expect(await producer.schedule("again", "succeed", far)).toBe("scheduled");

        const schedule = proxy.plan("cut-before-reply", runs(defineScript("schedule", sources.schedule)));
        await released;
        cancel.release();
        expect(String(await cancel.reply)).toMatch(/^TOOLATE /);
        expect(String(await schedule.reply)).toMatch(/^TOOLATE /);
        expect(await stage.queue.counts()).toEqual({ scheduled: 2, due: 0, leased: 0, dead: 0, paused: false });
        await stage.everyoneWorks(stage.open);
        expect(history.starts.get("once")?.map(({ attempt }) => attempt)).toEqual([1]);
        expect(await stage.problems()).toEqual([]);
      },
    );
  },
);
