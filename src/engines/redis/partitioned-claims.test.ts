import { describe, expect, it } from "vitest";
import type { ClaimRequest, EngineQueue } from "../../engine.js";
import { PunctualError } from "../../errors.js";
import { newMessage } from "../../testing/conformance/stage.js";
import { manualClock } from "../../testing/manual-clock.js";
import { memoryEngine } from "../memory/engine.js";
import { PartitionedClaims } from "./partitioned-claims.js";

type Fault = "reply" | "request" | "hang" | undefined;

/**
 * Three queues in memory; `fails` are the partitions whose next claims lose their reply, their request, or nothing, or hang until
 * `letGo`.
 */
function split() {
  const clock = manualClock();
  const engine = memoryEngine({ clock });
  const queues = [0, 1, 2].map((place) => engine.open(`q${place}`));
  const fails = new Map<number, Fault[]>();
  const asked: (readonly [place: number, limit: number])[] = [];
  let letGo = () => {};
  const hanging = new Promise<void>((resolve) => void (letGo = resolve));
  const partitions = queues.map((queue, place): EngineQueue => {
    const claim = async (request: ClaimRequest) => {
      asked.push([place, request.limit]);
      const fault = fails.get(place)?.shift();
      if (fault === "hang") await hanging;
      if (fault === "request") throw new PunctualError("not-sent", "The request was lost.");
      const result = await queue.claim(request);
      if (fault === "reply") throw new PunctualError("outcome-unknown", "The reply was lost.");
      return result;
    };
    return new Proxy(queue, {
      get: (target, name) => {
        const value: unknown = name === "claim" ? claim : Reflect.get(target, name);
        return typeof value === "function" && name !== "claim" ? value.bind(target) : value;
      },
    });
  });
  const claims = new PartitionedClaims(partitions);
  let tokens = 0;
  const claim = (token = `t${++tokens}`, consumer = "c") =>
    claims.claim({ limit: 10, lease: 30_000, consumer, token, attempts: 5 });
  const put = (place: number, id: string, more = {}) => queues[place]!.schedule([newMessage(id, more)]);
  const told = async (claimed: ReturnType<typeof claim>) => {
    const { messages, buried } = await claimed;
    return [messages.map(({ id, attempt }) => `${id} ${attempt}`), buried.map(({ id }) => id)];
  };
  return { clock, queues, fails, asked, claim, put, told, letGo };
}

/** An expired message is buried by the claim that finds it. */
async function expired({ clock, put }: ReturnType<typeof split>, place: number, id: string): Promise<void> {
  await put(place, id, { expiresIn: 1 });
  await clock.advance(10);
}

describe("When a claim fails in one partition and another has something", () => {
  it("what it took there is due again with the next claim, with no attempt used", async () => {
    const { claim, fails, put, told, queues, asked } = split();
    await put(0, "a");
    await put(1, "b");
    fails.set(0, ["reply"]);
    expect(await told(claim())).toEqual([["b 1"], []]);
    expect(await queues[0]!.counts()).toMatchObject({ leased: 1 });
    asked.length = 0;
    expect(await told(claim())).toEqual([["a 1"], []]);
    // Asked what it took, and claimed from; where it would have begun has to wait.
    expect(asked).toEqual([
      [0, 0],
      [0, 10],
    ]);
  });

  it("and fails again, that partition waits for its turn, and what it took is not lost", async () => {
    const { claim, fails, put, told, asked } = split();
    await put(0, "a");
    for (const id of ["b1", "b2", "b3"]) await put(1, id);
    fails.set(0, ["reply", "request"]);
    expect((await claim()).messages).toHaveLength(3);
    await put(1, "b4");
    asked.length = 0;
    expect(await told(claim())).toEqual([["b4 1"], []]);
    expect(asked).toEqual([
      [0, 0],
      [1, 10],
    ]);
    await put(2, "c");
    asked.length = 0;
    expect(await told(claim())).toEqual([["c 1"], []]);
    expect(asked).toEqual([[2, 10]]);
    expect(await told(claim())).toEqual([["a 1"], []]);
  });

  it("which it never reached, nothing is taken under its token", async () => {
    const { claim, fails, put, told, queues } = split();
    await put(1, "b");
    fails.set(0, ["request"]);
    expect(await told(claim())).toEqual([["b 1"], []]);
    await put(0, "a");
    expect(await told(claim())).toEqual([["a 1"], []]);
    expect(await queues[0]!.counts()).toMatchObject({ leased: 1, due: 0 });
  });

  it("which it never reached, what is buried on the way of handing it back is told", async () => {
    const { clock, claim, fails, put, told, queues } = split();
    await put(0, "old", { attempts: 1 });
    await queues[0]!.claim({ limit: 1, lease: 1_000, consumer: "d", token: "lost", attempts: 1 });
    await put(1, "b");
    fails.set(0, ["request"]);
    expect(await told(claim())).toEqual([["b 1"], []]);
    await clock.advance(1_000);
    // The claim that hands back is answered, the one behind it is not.
    fails.set(0, [undefined, "request"]);
    await put(1, "b2");
    expect(await told(claim())).toEqual([["b2 1"], ["old"]]);
    expect(await told(claim())).toEqual([[], []]);
  });

  it("another consumer does not give up what the first may still ask for", async () => {
    const { claim, fails, put, told } = split();
    await put(0, "a");
    await put(1, "b");
    fails.set(0, ["reply"]);
    await claim("t");
    expect(await told(claim("u", "d"))).toEqual([[], []]);
    expect(await told(claim("t"))).toEqual([["a 1"], []]);
  });
});

describe("When a claim fails in one partition and the others are empty", () => {
  it("a repeated one gets what it took there, also when another has something by then", async () => {
    const { claim, fails, put, told } = split();
    await put(1, "b");
    fails.set(1, ["reply"]);
    await expect(claim("t")).rejects.toMatchObject({ code: "outcome-unknown" });
    await put(0, "a");
    expect(await told(claim("t"))).toEqual([["b 1"], []]);
  });

  it("what they buried is told by the next claim, once", async () => {
    const scene = split();
    const { claim, fails, put, told } = scene;
    await expired(scene, 0, "old");
    fails.set(1, ["request"]);
    await expect(claim("t")).rejects.toMatchObject({ code: "not-sent" });
    await expired(scene, 2, "older");
    await put(1, "b");
    expect(await told(claim("t"))).toEqual([["b 1"], ["old"]]);
    expect(await told(claim())).toEqual([[], ["older"]]);
    expect(await told(claim())).toEqual([[], []]);
  });
});

describe("A partition that failed twice", () => {
  /** What it took is not known yet, and its next call hangs. */
  async function outOfReach() {
    const scene = split();
    const { claim, fails, put, told, asked } = scene;
    await put(0, "a");
    await put(1, "b1");
    fails.set(0, ["reply", "request", "hang"]);
    expect(await told(claim())).toEqual([["b1 1"], []]);
    await put(1, "b2");
    expect(await told(claim())).toEqual([["b2 1"], []]);
    asked.length = 0;
    return scene;
  }

  it("holds up no other while it is asked again, once at a time, and is claimed from when it is back", async () => {
    const { clock, claim, put, told, asked, letGo, queues } = await outOfReach();
    for (const id of ["b3", "b4", "b5", "b6"]) {
      await put(1, id);
      expect(await told(claim())).toEqual([[`${id} 1`], []]);
    }
    expect(asked.filter(([place]) => place === 0)).toEqual([[0, 0]]);
    letGo();
    await clock.advance(1);
    expect(await queues[0]!.counts()).toMatchObject({ due: 1, leased: 0 });
    expect(await told(claim())).toEqual([["a 1"], []]);
  });

  it("holds up no consumer that claims for the first time, and gives it what it has when it is back", async () => {
    const { clock, claim, put, told, asked, letGo } = await outOfReach();
    await put(1, "b3");
    expect(await told(claim("u", "d"))).toEqual([["b3 1"], []]);
    expect(asked).toEqual([
      [0, 0],
      [1, 10],
    ]);
    letGo();
    await clock.advance(1);
    await put(0, "new");
    expect(await told(claim("v", "d"))).toEqual([["new 1"], []]);
    expect(await told(claim())).toEqual([["a 1"], []]);
  });

  it("fails a claim when the others have nothing, after half a second, with how it failed last", async () => {
    const { clock, claim } = await outOfReach();
    let isOver = false;
    const failed = claim()
      .catch((error: unknown) => error)
      .finally(() => (isOver = true));
    await clock.advance(499);
    expect(isOver).toBe(false);
    await clock.advance(1);
    expect(await failed).toMatchObject({ code: "not-sent", message: "The request was lost." });
  });

  it("gives what it has when it answers by then, the others having nothing", async () => {
    const { clock, claim, told, letGo } = await outOfReach();
    const claimed = told(claim());
    await clock.advance(400);
    letGo();
    expect(await claimed).toEqual([["a 1"], []]);
  });

  it("is asked again with a later claim when the first time has failed, too", async () => {
    const { claim, fails, put, told } = await outOfReach();
    fails.set(0, ["request"]);
    await put(1, "b3");
    for (const place of [1, 2]) await put(place, `more ${place}`);
    expect((await claim()).messages).toHaveLength(1);
    expect((await claim()).messages).toHaveLength(2);
    expect(await told(claim())).toEqual([["a 1"], []]);
  });

  it("keeps what it took for the claim that asks for it, made a third time", async () => {
    const { claim, fails, put, told, queues } = split();
    await put(0, "a");
    fails.set(0, ["reply", "request"]);
    for (const code of ["outcome-unknown", "not-sent"]) await expect(claim("t")).rejects.toMatchObject({ code });
    expect(await told(claim("t"))).toEqual([["a 1"], []]);
    expect(await queues[0]!.counts()).toMatchObject({ leased: 1, due: 0 });
  });
});
