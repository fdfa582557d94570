import { describe, expect, it, vi } from "vitest";
import { consumerStage } from "../test/support/consumer-stage.js";
import { scriptedQueue } from "../test/support/scripted-queue.js";
import { textCodec } from "./codec.js";
import type { Dropped, Engine, EngineQueue, OpenOptions } from "./engine.js";
import { Queue } from "./queue.js";
import { Receiver } from "./receive/receiver.js";
import { manualClock } from "./testing/manual-clock.js";

/** A queue on an engine of which a test gives the operations; with what the engine was opened with. */
function scripted(operations: Partial<EngineQueue>) {
  const opened: (OpenOptions | undefined)[] = [];
  const clock = manualClock(0);
  const engine: Engine = {
    name: "scripted",
    open(_, options) {
      opened.push(options);
      return scriptedQueue(clock, operations);
    },
    close: async () => {},
    [Symbol.asyncDispose]: async () => {},
  };
  return { engine, clock, opened, queue: new Queue<unknown>("q", { engine }) };
}

const refused = (argument: string) => ({ code: "invalid-argument", details: { argument } });

describe("list", () => {
  it("asks for the first 100 that are scheduled unless told otherwise", async () => {
    const queries: unknown[] = [];
    const { queue } = scripted({
      async list(query) {
        queries.push(query);
        return { messages: [], cursor: "next" };
      },
    });
    expect(await queue.list()).toEqual({ messages: [], cursor: "next" });
    await queue.list({ state: "dead", from: new Date(5), to: 7, limit: 1_000, cursor: "next" });
    expect(queries).toEqual([
      { state: "scheduled", limit: 100, from: undefined, to: undefined, cursor: undefined },
      { state: "dead", from: 5, to: 7, limit: 1_000, cursor: "next" },
    ]);
  });

  it("gives messages as get does, page by page", async () => {
    const { queue, clock } = consumerStage();
    await queue.schedule("b", { delay: "2m", id: "b", headers: { trace: "1" } });
    await queue.schedule("a", { delay: "1m", id: "a" });
    const { messages, cursor } = await queue.list({ limit: 1 });
    expect(messages).toEqual([await queue.get("a")]);
    const rest = await queue.list({ limit: 1, cursor });
    expect(rest.messages).toEqual([await queue.get("b")]);
    expect(rest.messages[0]).toMatchObject({ dueAt: new Date(clock.now() + 120_000), headers: { trace: "1" } });
  });

  it("keeps a page useful although one of its payloads cannot be decoded", async () => {
    const { queue, memory } = consumerStage();
    const bytes = Buffer.from("{");
    await queue.schedule("a", { delay: "1m", id: "a" });
    await memory.open("q").schedule([{ id: "bad", payload: bytes, due: { delay: 90_000 }, onDuplicate: "keep" }]);
    await queue.schedule("b", { delay: "2m", id: "b" });
    const { messages } = await queue.list();
    expect(messages.map(({ id, payload }) => [id, payload])).toEqual([
      ["a", "a"],
      ["bad", undefined],
      ["b", "b"],
    ]);
    expect(messages[1]).toMatchObject({
      state: "scheduled",
      undecodable: { code: "undecodable", details: { id: "bad" } },
    });
    expect(messages[0]).not.toHaveProperty("undecodable");
    await expect(queue.get("bad")).rejects.toMatchObject({ code: "undecodable" });
  });

  it.each([
    [{ state: "gone" as "dead" }, "state"],
    [{ from: new Date(Number.NaN) }, "from"],
    [{ from: Number.POSITIVE_INFINITY }, "from"],
    [{ to: "2026-01-01" as unknown as Date }, "to"],
    [{ limit: 0 }, "limit"],
    [{ limit: 1_001 }, "limit"],
    [{ cursor: "" }, "cursor"],
    [{ cursor: 7 as unknown as string }, "cursor"],
    [{ stat: "dead" }, "query"],
    [null as unknown as object, "query"],
  ])("refuses %j before the engine is asked", async (query, argument) => {
    const { queue } = scripted({});
    await expect(queue.list(query)).rejects.toMatchObject(refused(argument));
  });
});

describe("dead letters", () => {
  const buried = async () => {
    const stage = consumerStage();
    await stage.put("a", "b", "c");
    for (const delivery of await stage.queue.receive({ max: 3 })) await delivery.bury("because");
    return stage;
  };

  it("are revived by id or all, now or later, with attempts counted anew", async () => {
    const { queue, clock } = await buried();
    expect(await queue.revive(["a", "unknown"])).toBe(1);
    expect(await queue.get("a")).toMatchObject({ state: "due", attempt: 0, payload: "a" });
    expect(await queue.revive("all", { delay: "1h" })).toBe(2);
    expect(await queue.get("b")).toMatchObject({ state: "scheduled", dueAt: new Date(clock.now() + 3_600_000) });
    expect(await queue.revive("all")).toBe(0);
  });

  it("are removed by id, and purged; nothing else is", async () => {
    const { queue } = await buried();
    await queue.schedule("d", { delay: "1h", id: "d" });
    expect(await queue.remove(new Set(["a", "d", "unknown"]))).toBe(1);
    expect(await queue.purge("dead")).toBe(2);
    expect(await queue.counts()).toMatchObject({ scheduled: 1, dead: 0 });
    expect(await queue.purge("waiting")).toBe(1);
    expect(await queue.counts()).toMatchObject({ scheduled: 0 });
  });

  it("are not asked about when no id is given", async () => {
    const { queue } = scripted({});
    expect([await queue.revive([]), await queue.remove([])]).toEqual([0, 0]);
  });

  it("are left alone when something is wrong", async () => {
    const { queue } = scripted({});
    await expect(queue.revive("order:A1")).rejects.toMatchObject(refused("ids"));
    await expect(queue.revive(["a", ""])).rejects.toMatchObject(refused("ids[1]"));
    await expect(queue.revive("all", { delay: Number.NaN })).rejects.toMatchObject({ code: "invalid-argument" });
    await expect(queue.revive("all", { dealy: 5 } as never)).rejects.toMatchObject({ code: "invalid-argument" });
    await expect(queue.remove("all")).rejects.toMatchObject(refused("ids"));
    await expect(queue.purge("all" as "dead")).rejects.toMatchObject(refused("what"));
  });
});

describe("audit and repair", () => {
  it("hand on what the engine finds", async () => {
    const problem = { kind: "lost", id: "a", detail: "It is in no index." };
    const report = { ok: false, problems: [problem], checked: 7 };
    const { queue } = scripted({ audit: async () => report, repair: async () => ({ ...report, checked: 8 }) });
    expect([await queue.audit(), await queue.repair()]).toEqual([report, { ...report, checked: 8 }]);
  });

  it("find nothing in a queue that is well", async () => {
    const { queue, put } = consumerStage();
    await put("a", "b");
    expect(await queue.audit()).toMatchObject({ ok: true, problems: [] });
  });
});

describe("a pause of receive", () => {
  it.each<[string, (queue: Queue<string>) => Promise<unknown>]>([
    ["schedule", (queue) => queue.schedule("a", { delay: 0 })],
    ["scheduleMany", (queue) => queue.scheduleMany([{ payload: "a", delay: 0 }])],
    ["reschedule", (queue) => queue.reschedule("a", { delay: 0 })],
    ["revive", (queue) => queue.revive("all")],
    ["resume", (queue) => queue.resume()],
    ["repair", (queue) => queue.repair()],
  ])("is ended by %s, which may have made something due", async (_, call) => {
    const ended = vi.spyOn(Receiver.prototype, "mayFind");
    await call(consumerStage().queue);
    expect(ended).toHaveBeenCalledOnce();
    ended.mockRestore();
  });
});

describe("rememberFor", () => {
  it("is told to the engine in ms, and is 0 unless asked for", () => {
    const { engine, opened } = scripted({});
    expect(new Queue("q", { engine, rememberFor: "1h" }).name).toBe("q");
    expect(opened.map((options) => options?.rememberFor)).toEqual([0, 3_600_000]);
  });

  it("keeps an id taken after its message is gone", async () => {
    const { memory, clock } = consumerStage();
    const queue = new Queue("r", { engine: memory, codec: textCodec(), rememberFor: "1h" });
    await queue.schedule("a", { delay: "1m", id: "a" });
    await queue.cancel("a");
    expect(await queue.schedule("a", { delay: "1m", id: "a" })).toMatchObject({ outcome: "duplicate" });
    await clock.advance("2h");
    expect(await queue.schedule("a", { delay: "1m", id: "a" })).toMatchObject({ outcome: "scheduled" });
  });

  it.each([["1500"], [-1], [Number.NaN], [null]])("may not be %j", (rememberFor) => {
    const { engine } = scripted({});
    expect(() => new Queue("q", { engine, rememberFor: rememberFor as string })).toThrow(
      expect.objectContaining(refused("rememberFor")),
    );
  });
});

describe("dead letters that fall out of their bounds", () => {
  it("are told to the consumers of the Queue, until they are closed", async () => {
    const { queue, opened, clock } = scripted({
      watch: async () => ({ [Symbol.asyncDispose]: async () => {} }),
      claim: async ({ lease }) => {
        const now = clock.now();
        return { messages: [], leaseUntil: now + lease, now, nextAt: now + 5_000, buried: [], missing: [] };
      },
    });
    const told: [string, Dropped][] = [];
    const consumer = (name: string) => queue.consume(() => {}).on("dropped", (dropped) => told.push([name, dropped]));
    const [one, other] = [consumer("one"), consumer("other")];
    opened[0]?.onDropped?.({ ids: ["a", "b"], total: 2 });
    await one.close();
    opened[0]?.onDropped?.({ ids: ["c"], total: 3 });
    await other.close();
    opened[0]?.onDropped?.({ ids: ["d"], total: 4 });
    expect(told).toEqual([
      ["one", { ids: ["a", "b"], total: 2 }],
      ["other", { ids: ["a", "b"], total: 2 }],
      ["other", { ids: ["c"], total: 3 }],
    ]);
  });
});
