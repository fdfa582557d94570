import { expect, it } from "vitest";
import type { EngineQueue } from "../../engine.js";
import { type ErrorCode, PunctualError } from "../../errors.js";
import { newMessage } from "../../testing/conformance/stage.js";
import { PartitionedQueue } from "./partitioned-queue.js";

/** A partition whose schedules fail with this code, so many turns of the event loop later. */
const failing = (code: ErrorCode, turns: number) =>
  ({
    async schedule() {
      for (let n = 0; n < turns; n++) await new Promise(setImmediate);
      throw new PunctualError(code, `${code}, at one partition`);
    },
  }) as unknown as EngineQueue;

it.each<[ErrorCode, ErrorCode, ErrorCode]>([
  ["misconfigured", "outcome-unknown", "outcome-unknown"],
  ["outcome-unknown", "misconfigured", "outcome-unknown"],
  ["not-confirmed", "not-sent", "not-sent"],
  ["not-confirmed", "outcome-unknown", "outcome-unknown"],
])("A schedule that fails in one partition with %s and then in another with %s fails with %s", async (...codes) => {
  const [first, then, told] = codes;
  const queue = new PartitionedQueue("orders", 2, (place) => failing(place === 0 ? first : then, place));
  const messages = Array.from({ length: 20 }, (_, n) => newMessage(`m${n}`));
  await expect(queue.schedule(messages)).rejects.toMatchObject({ code: told });
});
