import { describe, expect, it } from "vitest";
import { claimResult, Reply, scriptedQueue } from "../../test/support/scripted-queue.js";
import type { ClaimResult } from "../engine.js";
import { manualClock } from "../testing/manual-clock.js";
import { ClaimLoop } from "./claim-loop.js";

/** A loop that may claim ahead, and writes down what it does; its claims wait for the test, and so does what they send. */
function aheadLoop({ concurrency = 10, sends = true } = {}) {
  const clock = manualClock(0);
  const told: string[] = [];
  const claims: Reply<ClaimResult>[] = [];
  const sent: Reply<void>[] = [];
  let taken = 0;
  const queue = scriptedQueue(clock, {
    claim({ limit }) {
      told.push(`claim ${limit}`);
      const reply = new Reply<ClaimResult>();
      claims.push(reply);
      return reply.promise;
    },
    ...(sends && {
      sent() {
        told.push("sent?");
        const reply = new Reply<void>();
        sent.push(reply);
        return reply.promise;
      },
    }),
  });
  const loop = new ClaimLoop({
    queue,
    consumer: "c",
    lease: 30_000,
    attempts: 5,
    random: () => 0,
    ahead: true,
    room: () => concurrency - taken - loop.arriving,
    onAnswer({ messages }) {
      told.push(`take ${messages.length}`);
      taken += messages.length;
    },
    onClaimOver: () => told.push(`over, ${loop.arriving} arriving`),
    onArrival: ({ messages }) => told.push(`${messages.length} arrive`),
    onFailure: (failure) => told.push(String(failure)),
  });
  const answer = async (count: number, isMoreDue = true) => {
    claims.at(-1)?.give(claimResult(count, { now: 0, nextAt: isMoreDue ? 0 : 60_000 }));
    await clock.advance(0);
  };
  const leave = async () => {
    sent.at(-1)?.give();
    await clock.advance(0);
  };
  const started = async () => {
    loop.start();
    await clock.advance(0);
  };
  return { clock, loop, told, answer, leave, started };
}

describe("While more is due than a claim brought", () => {
  it("the next one leaves first, for the room that is left", async () => {
    const { told, started, answer, leave } = aheadLoop();
    await started();
    await answer(4);
    expect(told.splice(0)).toEqual(["claim 10", "4 arrive", "over, 4 arriving", "claim 6", "sent?"]);
    await leave();
    expect(told).toEqual(["take 4"]);
  });

  it("answers are taken in their order, also when the next one is faster than what it sent", async () => {
    const { told, started, answer, leave } = aheadLoop();
    await started();
    await answer(4);
    await answer(3, false);
    expect(told.filter((what) => what.startsWith("take"))).toEqual([]);
    await leave();
    expect(told.filter((what) => what.startsWith("take"))).toEqual(["take 4", "take 3"]);
  });

  it.each([
    ["there is no room for more", { concurrency: 4 }, 4],
    ["the engine is in this process", { sends: false }, 4],
    ["it brought nothing", {}, 0],
  ])("what came is taken at once when %s", async (_, options, count) => {
    const { told, started, answer } = aheadLoop(options);
    await started();
    await answer(count);
    expect(told.slice(1, 4)).toEqual([`${count} arrive`, `take ${count}`, "over, 0 arriving"]);
  });

  it("a loop that stops waits until it was taken", async () => {
    const { loop, told, started, answer, leave, clock } = aheadLoop();
    await started();
    await answer(4);
    let hasStopped = false;
    void loop.stop().then(() => (hasStopped = true));
    await answer(0, false);
    await clock.advance(0);
    expect(hasStopped).toBe(false);
    await leave();
    expect([hasStopped, told.includes("take 4")]).toEqual([true, true]);
  });
});

it("When nothing more is due, what came is taken at once", async () => {
  const { told, started, answer } = aheadLoop();
  await started();
  await answer(4, false);
  expect(told).toEqual(["claim 10", "4 arrive", "take 4", "over, 0 arriving"]);
});
