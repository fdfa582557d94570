import { describe, expect, it } from "vitest";
import { claimResult, Reply, scriptedQueue } from "../../test/support/scripted-queue.js";
import type { Clock } from "../clock.js";
import type { ClaimRequest, ClaimResult } from "../engine.js";
import { type ErrorCode, PunctualError } from "../errors.js";
import { manualClock } from "../testing/manual-clock.js";
import { ClaimLoop } from "./claim-loop.js";

const failed = (code: ErrorCode) => new PunctualError(code, `It failed: ${code}.`);

/** A loop whose claims wait for the test; messages that it is given take room until the test makes some. */
function heldLoop(concurrency = 10, grain = 0) {
  const clock = manualClock(0);
  // Timers of Node take a millisecond at least.
  const coarse: Clock = {
    now: () => clock.now(),
    elapsed: () => clock.elapsed(),
    runAt: (time, task) => clock.runAt(time, task),
    runAfter: (delay, task) => clock.runAfter(Math.max(delay, grain), task),
  };
  const claims: { at: number; request: ClaimRequest; reply: Reply<ClaimResult> }[] = [];
  const answers: { token: string; count: number }[] = [];
  const failures: unknown[] = [];
  const room = { free: concurrency };
  const held = { onAnswer: async () => {} };
  const queue = scriptedQueue(coarse, {
    claim(request) {
      const reply = new Reply<ClaimResult>();
      claims.push({ at: clock.now(), request, reply });
      return reply.promise;
    },
  });
  const loop = new ClaimLoop({
    queue,
    consumer: "c",
    lease: 30_000,
    attempts: 5,
    random: () => 0,
    room: () => room.free,
    onAnswer(result, token) {
      void held.onAnswer();
      answers.push({ token, count: result.messages.length });
      room.free -= result.messages.length;
    },
    onFailure: (failure) => failures.push(failure),
  });
  /** Answers the last claim with so many messages, and lets what follows from that happen. */
  const answer = async (count: number, nextAt: number) => {
    claims.at(-1)?.reply.give(claimResult(count, { now: clock.now(), nextAt }));
    await clock.advance(0);
  };
  const fail = async (code: ErrorCode) => {
    claims.at(-1)?.reply.fail(failed(code));
    await clock.advance(0);
  };
  const started = async () => {
    loop.start();
    await clock.advance(0);
  };
  return Object.assign(held, { clock, claims, answers, failures, room, loop, answer, fail, started });
}

type Held = ReturnType<typeof heldLoop>;
const times = ({ claims }: Held) => claims.map(({ at }) => at);
const limits = ({ claims }: Held) => claims.map(({ request }) => request.limit);
const tokens = ({ claims }: Held) => claims.map(({ request }) => request.token);

describe("ClaimLoop", () => {
  it("claims at once when it starts, for all its room, and not again before it is told to", async () => {
    const held = heldLoop();
    await held.started();
    held.loop.start();
    expect(held.claims[0]?.request).toEqual({ limit: 10, lease: 30_000, consumer: "c", token: "c.1", attempts: 5 });
    await held.answer(0, 4_321);
    await held.clock.advance(4_320);
    expect(times(held)).toEqual([0]);
    await held.clock.advance(1);
    expect(times(held)).toEqual([0, 4_321]);
    expect(tokens(held)).toEqual(["c.1", "c.2"]);
  });

  it("claims again at once as long as there is room and more is due", async () => {
    const held = heldLoop();
    await held.started();
    await held.answer(4, 0);
    await held.answer(5, 0);
    expect(limits(held)).toEqual([10, 6, 1]);
    expect(times(held)).toEqual([0, 0, 0]);
  });

  it("waits for room when it is full, then makes one claim for all the room that was made in one go", async () => {
    const held = heldLoop();
    await held.started();
    await held.answer(10, 0);
    await held.clock.advance(100);
    expect(limits(held)).toEqual([10]);
    for (let made = 1; made <= 3; made++) {
      held.room.free = made;
      held.loop.roomMade();
    }
    await held.clock.advance(0);
    expect(limits(held)).toEqual([10, 3]);
  });

  it.each([0, 1, 2, 3, 5])("heeds what it hears while an answer is taken, also %i microtasks later", async (hops) => {
    const held = heldLoop();
    await held.started();
    held.onAnswer = async () => {
      for (let hop = 0; hop < hops; hop++) await Promise.resolve();
      held.loop.wake(700);
    };
    await held.answer(1, 5_000);
    await held.clock.advance("1s");
    expect(times(held)).toEqual([0, 700]);
  });

  it("says every 5 s that it is alive while it is full, and is planned by that reply", async () => {
    const held = heldLoop();
    await held.started();
    await held.answer(10, 0);
    await held.clock.advance("5s");
    await held.answer(0, 5_000);
    await held.clock.advance("5s");
    expect(limits(held)).toEqual([10, 0, 0]);
    expect(times(held)).toEqual([0, 5_000, 10_000]);
  });

  it("keeps the planned time over a full spell", async () => {
    const held = heldLoop(1);
    await held.started();
    await held.answer(1, 2_000);
    held.room.free = 1;
    held.loop.roomMade();
    await held.clock.advance("1999ms");
    expect(times(held)).toEqual([0]);
    await held.clock.advance("1ms");
    expect(times(held)).toEqual([0, 2_000]);
  });

  it("claims earlier when it is woken, and later when it is postponed", async () => {
    const held = heldLoop();
    await held.started();
    await held.answer(0, 5_000);
    held.loop.wake(1_000);
    held.loop.wake(3_000);
    await held.clock.advance("1s");
    expect(times(held)).toEqual([0, 1_000]);
    await held.answer(0, 2_000);
    held.loop.postpone(4_000);
    await held.clock.advance("2999ms");
    expect(times(held)).toEqual([0, 1_000]);
    await held.clock.advance("1ms");
    expect(times(held)).toEqual([0, 1_000, 4_000]);
  });

  it("counts the earliest wake that it hears while a claim is under way", async () => {
    const held = heldLoop();
    await held.started();
    held.loop.wake(700);
    held.loop.wake(300);
    held.loop.wake(500);
    held.loop.postpone(4_000);
    await held.answer(0, 5_000);
    await held.clock.advance("299ms");
    expect(times(held)).toEqual([0]);
    await held.clock.advance("1ms");
    expect(times(held)).toEqual([0, 300]);
    await held.answer(0, 5_000);
    await held.clock.advance("4s");
    expect(times(held)).toEqual([0, 300]);
  });

  it("repeats a claim that failed with its token, from 50 ms to 1 s later, until it is answered", async () => {
    const held = heldLoop();
    await held.started();
    for (let tries = 0; tries < 8; tries++) {
      await held.fail(tries % 2 === 0 ? "outcome-unknown" : "not-sent");
      await held.clock.advance("1s");
    }
    await held.answer(2, 100_000);
    expect(new Set(tokens(held))).toEqual(new Set(["c.1"]));
    expect(held.claims.slice(0, 3).map(({ at }) => at)).toEqual([0, 50, 1_000 + 100]);
    expect(times(held).slice(-2)).toEqual([7_000, 8_000]);
    expect([held.failures.length, held.answers]).toEqual([8, [{ token: "c.1", count: 2 }]]);
  });

  it("claims at once when the store has recovered, also in the middle of a wait and when it is full", async () => {
    const held = heldLoop();
    await held.started();
    for (let tries = 0; tries < 6; tries++) {
      await held.fail("not-sent");
      await held.clock.advance(tries < 5 ? "1s" : 0);
    }
    const before = held.claims.length;
    held.loop.recovered();
    await held.clock.advance(0);
    expect(held.claims).toHaveLength(before + 1);
    await held.answer(10, 0);
    // Wakes may have been lost while it was away, so one reply is not enough; but there is no room now.
    expect(held.claims).toHaveLength(before + 1);
    held.loop.recovered();
    await held.clock.advance(0);
    expect(held.claims.at(-1)?.request.limit).toBe(0);
  });

  it("asks again after a recovery that it hears while a claim is under way", async () => {
    const held = heldLoop();
    await held.started();
    held.loop.recovered();
    await held.answer(0, 5_000);
    expect(times(held)).toEqual([0, 0]);
  });

  it("lets the event loop have a turn when messages are due all the time", async () => {
    const clock = manualClock(0);
    let claims = 0;
    const queue = scriptedQueue(clock, {
      async claim() {
        claims += 1;
        return { messages: [], leaseUntil: 1, now: 0, nextAt: 0, buried: [], missing: [] };
      },
    });
    const options = { queue, consumer: "c", lease: 1_000, attempts: 1, random: () => 0 };
    const loop = new ClaimLoop({ ...options, room: () => 1, onAnswer: () => {}, onFailure: () => {} });
    loop.start();
    await new Promise((resolve) => setImmediate(resolve));
    expect(claims).toBe(200);
    await loop.stop();
  });

  it("has that turn though room is made all the time", async () => {
    const held = heldLoop(1, 10);
    await held.started();
    for (let claims = 1; claims < 200; claims++) await held.answer(0, 0);
    held.room.free = 0;
    await held.answer(0, 0);
    expect(held.claims).toHaveLength(200);
    held.room.free = 1;
    for (let n = 0; n < 4; n++) {
      held.loop.roomMade();
      await held.clock.advance(4);
    }
    expect(held.claims).toHaveLength(201);
  });

  it("says when it will not return, and names its leases as it is told", async () => {
    const clock = manualClock(0);
    const requests: ClaimRequest[] = [];
    const queue = scriptedQueue(clock, {
      async claim(request) {
        requests.push(request);
        const now = clock.now();
        return { messages: [], leaseUntil: now + 1_000, now, nextAt: now + 1_000, buried: [], missing: [] };
      },
    });
    let tokens = 0;
    const newToken = () => `t${++tokens}`;
    const options = { queue, consumer: "c", lease: 1_000, attempts: 1, random: () => 0, returns: false, newToken };
    const loop = new ClaimLoop({ ...options, room: () => 1, onAnswer: () => {}, onFailure: () => {} });
    loop.start();
    await clock.advance("1s");
    expect(requests.map(({ token, returns }) => [token, returns])).toEqual([
      ["t1", false],
      ["t2", false],
    ]);
    await loop.stop();
  });

  describe("when it is stopped", () => {
    it("claims nothing more, and waits for the claim under way", async () => {
      const held = heldLoop();
      await held.started();
      let stopped = false;
      void held.loop.stop().then(() => (stopped = true));
      await held.clock.advance("1s");
      expect(stopped).toBe(false);
      await held.answer(3, 0);
      expect([stopped, held.answers]).toEqual([true, [{ token: "c.1", count: 3 }]]);
      held.loop.start();
      held.loop.wake(0);
      held.loop.postpone(0);
      held.loop.recovered();
      await held.clock.advance("1m");
      expect(held.claims).toHaveLength(1);
      await held.loop.stop();
    });

    it("goes on to repeat a claim whose reply was lost, because it may have taken leases, until it is abandoned", async () => {
      const held = heldLoop();
      await held.started();
      await held.fail("outcome-unknown");
      let stopped = false;
      void held.loop.stop().then(() => (stopped = true));
      await held.clock.advance("1s");
      await held.fail("outcome-unknown");
      expect([stopped, tokens(held)]).toEqual([false, ["c.1", "c.1"]]);
      held.loop.abandon();
      await held.clock.advance(0);
      expect(stopped).toBe(true);
    });

    it("does not repeat a claim that was never sent", async () => {
      const held = heldLoop();
      await held.started();
      await held.fail("not-sent");
      await held.loop.stop();
      await held.clock.advance("10s");
      expect(held.claims).toHaveLength(1);
    });

    it("ends by itself when the engine was closed", async () => {
      const held = heldLoop();
      await held.started();
      await held.fail("closed");
      await held.clock.advance("10s");
      expect([held.claims.length, held.failures]).toEqual([1, [failed("closed")]]);
      await held.loop.stop();
    });
  });
});
