import { describe, expect, it } from "vitest";
import { zsetRemoveEngine } from "../engines/zset-remove/engine.js";
import { zsetWatchEngine } from "../engines/zset-watch/engine.js";

// Nothing listens there, and nothing has to: what is refused is refused without asking Redis.
const url = "redis://127.0.0.1:1";

describe.each([
  ["zset-remove", zsetRemoveEngine],
  ["zset-watch", zsetWatchEngine],
] as const)("what %s cannot do", (name, makeEngine) => {
  it("is refused with the reason and the engine that can", async () => {
    await using engine = makeEngine({ url });
    const queue = engine.open("q");
    const refused = {
      cancel: queue.cancel(["a"]),
      reschedule: queue.reschedule([{ id: "a", due: { delay: 0 } }]),
      get: queue.get(["a"]),
      list: queue.list({ state: "due", limit: 1 }),
      revive: queue.revive("all", { delay: 0 }),
      remove: queue.remove(["a"]),
      "purge dead letters": queue.purge("dead"),
      audit: queue.audit(),
      repair: queue.repair(),
    };
    for (const [operation, call] of Object.entries(refused)) {
      const error: unknown = await call.catch((reason: unknown) => reason);
      expect(error).toMatchObject({
        code: "unsupported",
        message: expect.stringMatching(
          new RegExp(`^The engine ${name} cannot ${operation}: \\w.+\\. The engine redis can\\.$`, "u"),
        ),
        details: { engine: name },
      });
    }
  });

  it("is refused before anything is written when it is a part of scheduling", async () => {
    await using engine = makeEngine({ url });
    const message = { id: "a", payload: Buffer.from("x"), due: { delay: 0 } };
    await expect(engine.open("q").schedule([{ ...message, onDuplicate: "replace" }])).rejects.toThrow(
      "cannot schedule as a replacement",
    );
    const remembering = engine.open("q", { rememberFor: 1_000 });
    await expect(remembering.schedule([{ ...message, onDuplicate: "keep" }])).rejects.toThrow(
      "cannot schedule with rememberFor",
    );
  });

  it("is answered with closed when the engine is, like everything else, also by a queue that is opened then", async () => {
    const engine = makeEngine({ url });
    const before = engine.open("q");
    await engine.close();
    for (const queue of [before, engine.open("q"), engine.open("other")]) {
      await expect(queue.get(["a"])).rejects.toMatchObject({ code: "closed" });
      const request = { limit: 1, lease: 1_000, consumer: "c", token: "t", attempts: 1 };
      await expect(queue.claim(request)).rejects.toMatchObject({ code: "closed" });
    }
  });
});
