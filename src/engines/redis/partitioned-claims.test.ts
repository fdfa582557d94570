import { describe, expect, it } from "vitest";
import type { ClaimRequest, EngineQueue } from "../../engine.js";
import { PunctualError } from "../../errors.js";
import { newMessage } from "../../testing/conformance/stage.js";
import { manualClock } from "../../testing/manual-clock.js";
import { memoryEngine } from "../memory/engine.js";
import { PartitionedClaims } from "./partitioned-claims.js";

type Fault = "reply" | "request" | "hang" | undefined;

/**
 * Queues in memory; `fails` are the partitions whose next claims lose their reply, their request, or nothing, or hang until
 * `letGo`. Those that `freeze` names hang whatever they are asked; those of `slow` answer what takes nothing after so many ms.
 */
function split(count = 3) {
  const clock = manualClock();
  const engine = memoryEngine({ clock });
  const queues = Array.from({ length: count }, (_, place) => engine.open(`q${place}`));
  const fails = new Map<number, Fault[]>();
  const frozen = new Set<number>();
  const slow = new Map<number, number>();
  const asked: (readonly [place: number, limit: number])[] = [];
  let letGo = () => {};
  const hanging = new Promise<void>((resolve) => void (letGo = resolve));
  const partitions = queues.map((queue, place): EngineQueue => {
    const claim = async (request: ClaimRequest) => {
      asked.push([place, request.limit]);
      const fault = fails.get(place)?.shift();
      if (fault === "hang" || frozen.has(place)) await hanging;
      const delay = request.limit === 0 ? slow.get(place) : undefined;
      if (delay !== undefined) await new Promise<void>((resolve) => void clock.runAfter(delay, resolve));
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
  const claim = (token = `t${++tokens}`, consumer = "c", more: Partial<ClaimRequest> = {}) =>
    claims.claim({ limit: 10, lease: 30_000, consumer, token, attempts: 5, ...more });
  const put = (place: number, id: string, more = {}) => queues[place]!.schedule([newMessage(id, more)]);
  const told = async (claimed: ReturnType<typeof claim>) => {
    const { messages, buried } = await claimed;
    return [messages.map(({ id, attempt }) => `${id} ${attempt}`), buried.map(({ id }) => id)];
  };
  const freeze = (...places: number[]) => places.forEach((place) => frozen.add(place));
  return { clock, queues, fails, freeze, slow, asked, claim, put, told, letGo };
}

/** An expired message is buried by the claim that finds it. */
async function expired({ clock, put }: ReturnType<typeof split>, place: number, id: string): Promise<void> {
  await put(place, id, { expiresIn: 1 });
  await clock.advance(10);
}

/** Whether a promise is settled, and how. */
function followed<Value>(promise: Promise<Value>) {
  const seen: { isOver: boolean; error?: unknown } = { isOver: false };
  promise.then(
    () => (seen.isOver = true),
    (error: unknown) => Object.assign(seen, { isOver: true, error }),
  );
  return seen;
}

describe("When a claim fails in one partition and another has something", () => {
  it("what it took there is due again at once, with no attempt used, and comes with the next claim", async () => {
    const { clock, claim, fails, put, told, queues, asked } = split();
    await put(0, "a");
    await put(1, "b");
    fails.set(0, ["reply"]);
    expect(await told(claim())).toEqual([["b 1"], []]);
    await clock.advance(0);
    expect(await queues[0]!.counts()).toMatchObject({ leased: 0, due: 1 });
    expect(asked).toEqual([
      [0, 10],
      [1, 10],
      [0, 0],
    ]);
    expect(await told(claim())).toEqual([["a 1"], []]);
  });

  it("and fails again, it is asked with the next claim, and what it took is not lost", async () => {
    const { clock, claim, fails, put, told, queues } = split();
    await put(0, "a");
    await put(1, "b1");
    fails.set(0, ["reply", "request"]);
    expect(await told(claim())).toEqual([["b1 1"], []]);
    await clock.advance(0);
    expect(await queues[0]!.counts()).toMatchObject({ leased: 1 });
    await put(1, "b2");
    expect(await told(claim())).toEqual([["b2 1"], []]);
    await clock.advance(0);
    expect(await told(claim())).toEqual([["a 1"], []]);
  });

  it("which it never reached, nothing is taken under its token", async () => {
    const { clock, claim, fails, put, told, queues } = split();
    await put(1, "b");
    fails.set(0, ["request"]);
    expect(await told(claim())).toEqual([["b 1"], []]);
    await put(0, "a");
    await clock.advance(0);
    expect(await queues[0]!.counts()).toMatchObject({ leased: 0, due: 1 });
    expect(await told(claim())).toEqual([["a 1"], []]);
  });

  it("which it never reached, what is buried on the way of handing it back is told", async () => {
    const { clock, claim, fails, put, told, queues } = split();
    await put(0, "old", { attempts: 1 });
    await queues[0]!.claim({ limit: 1, lease: 1_000, consumer: "d", token: "lost", attempts: 1 });
    await put(1, "b");
    fails.set(0, ["request", "request"]);
    expect(await told(claim())).toEqual([["b 1"], []]);
    await clock.advance(1_000);
    await put(1, "b2");
    const buried: string[] = [];
    for (let n = 0; n < 3; n++) buried.push(...(await claim()).buried.map(({ id }) => id));
    expect(buried).toEqual(["old"]);
  });

  it("another consumer does not give up what the first may still ask for", async () => {
    const { claim, fails, put, told } = split();
    for (const place of [0, 1, 2]) fails.set(place, [place === 0 ? "reply" : "request"]);
    await put(0, "a");
    await expect(claim("t")).rejects.toMatchObject({ code: "not-sent" });
    expect(await told(claim("u", "d"))).toEqual([[], []]);
    expect(await told(claim("t"))).toEqual([["a 1"], []]);
  });
});

describe("A claim that fails in all partitions", () => {
  it("gets what it took when it is made again", async () => {
    const { claim, fails, put, told, queues } = split();
    await put(1, "b");
    for (const place of [0, 1, 2]) fails.set(place, [place === 1 ? "reply" : "request", "request"]);
    for (let n = 0; n < 2; n++) await expect(claim("t")).rejects.toMatchObject({ code: "not-sent" });
    expect(await queues[1]!.counts()).toMatchObject({ leased: 1 });
    expect(await told(claim("t"))).toEqual([["b 1"], []]);
    expect(await queues[1]!.counts()).toMatchObject({ leased: 1, due: 0 });
  });

  it("leaves nothing under its lease when it is not made again, and another is", async () => {
    const { claim, fails, put, told } = split();
    await put(1, "b");
    for (const place of [0, 1, 2]) fails.set(place, [place === 1 ? "reply" : "request"]);
    await expect(claim("t")).rejects.toMatchObject({ code: "not-sent" });
    expect(await told(claim("u"))).toEqual([["b 1"], []]);
  });

  it("takes no longer than one call does, and asks all others at once when the first has been silent for 200 ms", async () => {
    const { clock, claim, freeze, asked, letGo } = split();
    freeze(0, 1, 2);
    const claimed = followed(claim());
    await clock.advance(199);
    expect(asked).toEqual([[0, 10]]);
    await clock.advance(1);
    expect(asked).toEqual([
      [0, 10],
      [1, 0],
      [2, 0],
    ]);
    await clock.advance(9_000);
    expect(claimed.isOver).toBe(false);
    letGo();
    await clock.advance(0);
    expect(claimed).toEqual({ isOver: true });
  });
});

describe("When a partition says nothing", () => {
  it("a claim waits for it for 200 ms, whichever others are silent, and its consumer then for none", async () => {
    const { clock, claim, freeze, put, told, asked } = split();
    freeze(0, 1);
    await put(2, "c1");
    const claimed = told(claim());
    await clock.advance(200);
    expect(await claimed).toEqual([["c1 1"], []]);
    for (const id of ["c2", "c3", "c4"]) {
      await put(2, id);
      expect(await told(claim())).toEqual([[`${id} 1`], []]);
    }
    // Once at a time.
    expect(asked.filter(([place]) => place === 0)).toEqual([[0, 10]]);
    expect(asked.filter(([place]) => place === 1)).toEqual([[1, 0]]);
  });

  it("another consumer, which claims for the first time, does not wait for it", async () => {
    const { clock, claim, freeze, put, told } = split();
    freeze(0);
    await put(1, "b1");
    const first = told(claim());
    await clock.advance(200);
    expect(await first).toEqual([["b1 1"], []]);
    await put(1, "b2");
    expect(await told(claim("u", "d"))).toEqual([["b2 1"], []]);
  });

  it("what it gives late is due again with no attempt used, and it is claimed from again", async () => {
    const { clock, claim, fails, put, told, queues, asked, letGo } = split();
    fails.set(0, ["hang"]);
    await put(0, "a");
    await put(1, "b");
    const claimed = told(claim());
    await clock.advance(200);
    expect(await claimed).toEqual([["b 1"], []]);
    letGo();
    await clock.advance(0);
    expect(await queues[0]!.counts()).toMatchObject({ leased: 0, due: 1 });
    expect(await told(claim())).toEqual([["a 1"], []]);
    // Not asked first whether it answers.
    expect(asked.filter(([place]) => place === 0)).toEqual([
      [0, 10],
      [0, 10],
    ]);
  });

  it("a claim that is still under way takes what it gives", async () => {
    const { clock, claim, fails, put, told, letGo } = split();
    fails.set(0, ["hang"]);
    await put(0, "a");
    const claimed = told(claim());
    await clock.advance(300);
    letGo();
    expect(await claimed).toEqual([["a 1"], []]);
  });

  it("and the others have nothing, its consumer is told to claim again within half a second", async () => {
    const { clock, claim, freeze } = split();
    freeze(0);
    const claimed = claim();
    await clock.advance(399);
    expect(followed(claimed).isOver).toBe(false);
    await clock.advance(1);
    const { messages, now, nextAt } = await claimed;
    expect(messages).toEqual([]);
    expect(nextAt).toBe(now + 500);
  });

  it("and the others have nothing and answer one after the other, they are waited for until 200 ms after the first answer", async () => {
    const { clock, claim, freeze, slow } = split(6);
    freeze(0);
    for (const place of [1, 2, 3, 4, 5]) slow.set(place, 150 * place);
    const claimed = followed(claim());
    await clock.advance(549);
    expect(claimed.isOver).toBe(false);
    await clock.advance(1);
    expect(claimed.isOver).toBe(true);
  });

  it("and the others have nothing, a claim whose consumer does not come again fails, and leaves nothing taken", async () => {
    const { clock, claim, fails, put, queues, letGo } = split();
    fails.set(0, ["hang"]);
    await put(0, "a");
    const claimed = followed(claim("t", "c", { returns: false }));
    await clock.advance(400);
    expect(claimed).toMatchObject({ isOver: true, error: { code: "not-sent" } });
    letGo();
    await clock.advance(0);
    expect(await queues[0]!.counts()).toMatchObject({ leased: 0, due: 1 });
  });

  it("what the others buried is told, once", async () => {
    const scene = split();
    const { clock, claim, freeze, told } = scene;
    await expired(scene, 1, "old");
    freeze(0);
    const claimed = told(claim());
    await clock.advance(400);
    expect(await claimed).toEqual([[], ["old"]]);
    const again = told(claim());
    await clock.advance(200);
    expect(await again).toEqual([[], []]);
  });
});
