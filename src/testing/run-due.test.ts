import { describe, expect, it } from "vitest";
import { consumerStage, down } from "../../test/support/consumer-stage.js";
import { runDue } from "./run-due.js";

describe("runDue", () => {
  it("runs what is due, one after the other in due order, and says what became of each", async () => {
    const { clock, queue } = consumerStage();
    await queue.schedule("2", { delay: "2m", id: "second" });
    await queue.schedule("1", { delay: "1m", id: "first" });
    await queue.schedule("3", { delay: "3m", id: "third" });
    const seen: string[] = [];
    let active = 0;
    const handler = async ({ payload }: { payload: string }) => {
      active += 1;
      seen.push(payload);
      await new Promise((resolve) => setImmediate(resolve));
      expect(active).toBe(1);
      active -= 1;
    };
    expect(await runDue(queue, handler)).toEqual([]);
    await clock.advance("2m");
    expect(await runDue(queue, handler)).toEqual([
      { id: "first", outcome: "acknowledged" },
      { id: "second", outcome: "acknowledged" },
    ]);
    expect([seen, await queue.counts()]).toMatchObject([["1", "2"], { scheduled: 1, due: 0, leased: 0 }]);
  });

  it("runs more than one claim brings", async () => {
    const { queue, put } = consumerStage();
    await put(...Array.from({ length: 1_200 }, (_, index) => `m${index}`));
    expect(await runDue(queue, () => {})).toHaveLength(1_200);
    expect(await queue.counts()).toMatchObject({ due: 0, leased: 0 });
  });

  it("settles as a consumer does, with its policy", async () => {
    const { memory, queue, put } = consumerStage();
    await put("throws", "buries", "releases", "retries");
    await memory.open("q").schedule([{ id: "bad", payload: Buffer.from("{"), due: { delay: 0 }, onDuplicate: "keep" }]);
    const error = new Error("no luck");
    const retry = { attempts: 2, backoff: () => "1h" };
    const outcomes = await runDue(
      queue,
      (message) => {
        if (message.id === "throws") throw error;
        if (message.id === "buries") return message.bury("because");
        if (message.id === "releases") return message.release({ delay: "1h" });
        return message.retry({ delay: "1m" });
      },
      { retry },
    );
    expect(outcomes).toEqual([
      { id: "throws", outcome: "retried", error },
      { id: "buries", outcome: "buried" },
      { id: "releases", outcome: "released" },
      { id: "retries", outcome: "retried" },
      { id: "bad", outcome: "buried", error: expect.objectContaining({ code: "undecodable" }) },
    ]);
    expect((await queue.list()).messages.map(({ id, attempt }) => [id, attempt])).toEqual([
      ["retries", 1],
      ["throws", 1],
      ["releases", 0],
    ]);
  });

  it("leaves what its handlers make due, unless it is to run that too", async () => {
    const { queue, put } = consumerStage();
    await put("a");
    const handler = async ({ payload, attempt }: { payload: string; attempt: number }) => {
      if (payload === "a") await queue.schedule("b", { delay: 0, id: "b" });
      else if (attempt < 3) throw new Error("again");
    };
    expect(await runDue(queue, handler)).toMatchObject([{ id: "a" }]);
    expect(await queue.counts()).toMatchObject({ due: 1, leased: 0 });
    await put("a");
    const outcomes = await runDue(queue, handler, { meanwhile: true, retry: { backoff: () => 0 } });
    expect(outcomes.map(({ id, outcome }) => `${id} ${outcome}`)).toEqual([
      "b retried",
      "a acknowledged",
      "b retried",
      "b acknowledged",
    ]);
  });

  it("keeps the leases of those that wait for their turn, however long that takes", async () => {
    const { clock, queue, put } = consumerStage();
    await put("a", "b");
    const taken: unknown[] = [];
    const done = runDue(queue, async () => {
      await new Promise<void>((resolve) => void clock.runAt(clock.now() + 600_000, resolve));
      // Somebody else, who would get what is under no lease any more.
      taken.push(...(await queue.receive({ max: 10 })));
    });
    await clock.advance("20m");
    expect(await done).toMatchObject([{ outcome: "acknowledged" }, { outcome: "acknowledged" }]);
    expect(taken).toEqual([]);
  });

  it("gives up on a handler that always releases, and rejects when the store fails", async () => {
    const { queue, put, faults } = consumerStage();
    await put("a");
    await expect(runDue(queue, (message) => message.release(), { meanwhile: true })).rejects.toThrow(
      "Something is still due after 1000 rounds",
    );
    faults.set("claim", () => Promise.reject(down));
    await expect(runDue(queue, () => {})).rejects.toBe(down);
    await expect(runDue(queue, () => {}, { lease: 5 } as never)).rejects.toMatchObject({ code: "invalid-argument" });
  });

  it("extends nothing any more when it has failed half-way", async () => {
    const { clock, queue, put, faults, calls } = consumerStage();
    await put("a");
    let claims = 0;
    faults.set("claim", async () => {
      claims += 1;
      if (claims > 1) throw down;
    });
    await expect(runDue(queue, () => {})).rejects.toBe(down);
    faults.clear();
    await clock.advance("1m");
    expect(calls).not.toContain("extend");
    expect(await runDue(queue, () => {})).toEqual([{ id: "a", outcome: "acknowledged" }]);
  });
});
