import { describe, expect, it } from "vitest";
import { jsonCodec } from "../codec.js";
import { PunctualError } from "../errors.js";
import { manualClock } from "../testing/manual-clock.js";
import { type DeliverySettler, type Handler, LeasedDelivery } from "./delivery.js";
import { EventEmitter } from "./events.js";
import { Gate } from "./gate.js";
import { runOne } from "./run-one.js";

/** Runs a handler over one message without an engine and writes down what it asks for. */
function stage(handler: Handler<unknown>, { payload = '"p"', timeout }: { payload?: string; timeout?: number } = {}) {
  const clock = manualClock(10_000);
  const over = new Gate();
  const told: string[] = [];
  const events = new EventEmitter<unknown>();
  events.add("delivered", ({ id }) => told.push(`delivered ${id}`));
  events.add("error", (error, message) => told.push(`error ${String(error)} of ${message?.id}`));
  const settle = (delivery: LeasedDelivery<unknown>, what: string, failure?: PunctualError) => {
    delivery.state = "settled";
    told.push(what);
    delivery.settlement = Promise.resolve(failure);
    return delivery.settlement;
  };
  const settler: DeliverySettler<unknown> = {
    acknowledge: (delivery) => settle(delivery, "acknowledge"),
    finish: (delivery) => void settle(delivery, "finish").then(() => over.open()),
    retry: (delivery, failure, delay) => settle(delivery, `retry ${String(failure?.error)} ${delay}`),
    release: (delivery, delay) => settle(delivery, `release ${delay}`),
    bury: (delivery, reason, error) => settle(delivery, `bury ${reason} ${error?.code}`),
    extend: async () => undefined,
  };
  const claimed = { id: "m", payload: Buffer.from(payload), dueAt: 9_000, attempt: 1, attempts: 5 };
  const delivery = new LeasedDelivery<unknown>(claimed, "t", 40_000, settler);
  const steps = {
    clock,
    codec: jsonCodec<unknown>(),
    handler,
    timeout,
    settler,
    events,
    onHandlerEnded: () => told.push("handler ended"),
  };
  const run = () => {
    runOne(delivery, { ...steps, onOver: () => over.open() });
    return over.opened;
  };
  return { clock, told, delivery, run };
}

const boom = new Error("boom");
const fail = () => {
  throw boom;
};

describe("runOne", () => {
  it.each([
    ["returns", () => "value"],
    ["returns a promise", async () => "value"],
  ])("acknowledges when the handler %s, before it makes room for another", async (_, handler) => {
    const { told, run } = stage(handler);
    await run();
    expect(told).toEqual(["delivered m", "finish", "handler ended"]);
  });

  it("counts a promise once whose own then answers twice", async () => {
    const twice = Object.assign(Promise.resolve(), {
      // oxlint-disable-next-line unicorn/no-thenable -- that is the fault
      then(settled: () => void) {
        settled();
        settled();
      },
    });
    const { told, run } = stage(() => twice);
    await run();
    expect(told).toEqual(["delivered m", "finish", "handler ended"]);
  });

  it.each([
    ["throws", fail],
    ["rejects", () => Promise.reject(boom)],
    // oxlint-disable-next-line unicorn/no-thenable -- that is the fault
    ["gives what throws when it is looked at", () => Object.defineProperty({}, "then", { get: fail })],
  ])("retries when the handler %s", async (_, handler) => {
    const { told, run } = stage(handler);
    await run();
    expect(told).toEqual(["delivered m", "retry Error: boom undefined", "handler ended"]);
  });

  it("buries a payload that the codec cannot decode, without calling the handler", async () => {
    const { told, run } = stage(fail, { payload: "{" });
    await run();
    expect(told).toEqual(["bury undecodable undecodable", "handler ended"]);
  });

  it("gives the handler the payload and how late it is", async () => {
    const seen: unknown[] = [];
    const { run } = stage(({ payload, lateness, dueAt, attempt }) => seen.push(payload, lateness, dueAt, attempt));
    await run();
    expect(seen).toEqual(["p", 1_000, new Date(9_000), 1]);
  });

  it("is never late by less than nothing, though the clock of a server is estimated", async () => {
    const seen: number[] = [];
    const { clock, run } = stage(({ lateness }) => seen.push(lateness));
    clock.now = () => 8_999.6;
    await run();
    expect(seen).toEqual([0]);
  });

  it("aborts a handler that runs too long and retries, without waiting for it", async () => {
    let reason: unknown;
    const settledLate: unknown[] = [];
    const handler: Handler<unknown> = async (message) => {
      await new Promise((resolve) => message.signal.addEventListener("abort", resolve));
      reason = message.signal.reason;
      await message.acknowledge().catch((error: unknown) => settledLate.push(error));
      throw new Error("after the abort");
    };
    const { clock, told, run } = stage(handler, { timeout: 500 });
    const end = run();
    await clock.advance(499);
    expect(told).toEqual(["delivered m"]);
    await clock.advance(1);
    await end;
    expect(reason).toMatchObject({ code: "timed-out", details: { id: "m", timeout: 500 } });
    expect(told).toEqual([
      "delivered m",
      expect.stringMatching(/^retry PunctualError: The handler .* 500 ms/),
      "handler ended",
    ]);
    expect(settledLate).toEqual([expect.objectContaining({ code: "lease-lost" })]);
  });

  it("leaves no timer behind of a handler that is in time, which would keep the process alive", async () => {
    const { clock, told, delivery, run } = stage(() => "value", { timeout: 500 });
    const timers = new Set<unknown>();
    const { runAfter } = clock;
    clock.runAfter = (duration, callback) => {
      const cancel = runAfter(duration, callback);
      timers.add(callback);
      return () => {
        timers.delete(callback);
        cancel();
      };
    };
    await run();
    expect(timers.size).toBe(0);
    await clock.advance("1s");
    expect([told.length, delivery.signal.aborted]).toEqual([3, false]);
  });

  it("settles nothing more when the handler has settled, and waits for that", async () => {
    const { told, run } = stage((message) => void message.bury("no use"));
    await run();
    expect(told).toEqual(["delivered m", "bury no use undefined", "handler ended"]);
  });

  it("tells of a handler that throws after it has settled", async () => {
    const { told, run } = stage(async (message) => {
      await message.release({ delay: "5s" });
      throw boom;
    });
    await run();
    expect(told).toEqual(["delivered m", "release 5000", "handler ended", "error Error: boom of m"]);
  });

  it.each(["lost", "handed-back"] as const)(
    "settles nothing and tells nothing when the lease was %s meanwhile",
    async (state) => {
      for (const handler of [fail, () => "value"]) {
        const { told, delivery, run } = stage(() => {
          delivery.state = state;
          return handler();
        });
        await run();
        expect(told).toEqual(["delivered m", "handler ended"]);
      }
    },
  );
});

describe("a delivery", () => {
  it("is settled once: whatever comes after it fails with lease-lost and says why", async () => {
    const { told, delivery } = stage(() => {});
    await delivery.acknowledge();
    const again = [delivery.acknowledge(), delivery.retry(), delivery.release(), delivery.bury("x"), delivery.extend()];
    for (const outcome of await Promise.allSettled(again)) {
      expect(outcome).toMatchObject({ status: "rejected", reason: { code: "lease-lost" } });
      expect(String(Reflect.get(outcome, "reason"))).toMatch(
        /message "m": it was settled before\. Nothing was changed/,
      );
    }
    expect(told).toEqual(["acknowledge"]);
  });

  it("refuses bad arguments without settling", async () => {
    const { told, delivery } = stage(() => {});
    const wrong = [
      delivery.retry({ delay: "soon" }),
      delivery.release({ delay: Number.NaN }),
      delivery.bury(""),
      delivery.bury("x".repeat(257)),
      delivery.extend(999),
      Reflect.apply(delivery.retry, delivery, [{ dealy: 5 }]) as Promise<void>,
    ];
    for (const outcome of await Promise.allSettled(wrong)) {
      expect(outcome).toMatchObject({ status: "rejected", reason: { code: "invalid-argument" } });
    }
    await delivery.retry({ delay: -5, error: boom });
    expect(told).toEqual(["retry Error: boom 0"]);
  });

  it("has a signal that is aborted when it is first asked for afterwards, with the first reason", () => {
    const { delivery } = stage(() => {});
    const first = new PunctualError("lease-lost", "first");
    delivery.abort(first);
    delivery.abort(new PunctualError("closed", "second"));
    expect([delivery.signal.aborted, delivery.signal.reason]).toEqual([true, first]);
    expect(delivery.signal).toBe(delivery.signal);
  });
});
