import { describe, expect, it } from "vitest";
import { consumerStage } from "../../test/support/consumer-stage.js";

describe("the options of a consumer", () => {
  it.each([
    [{ concurrency: 0 }, /concurrency is 0; accepted is a whole number from 1 to 100,000/],
    [{ concurrency: 100_001 }, /concurrency is 100001/],
    [{ concurrency: 1.5 }, /concurrency is 1.5/],
    [{ lease: 999 }, /lease is 999 ms; accepted is 1000 ms or longer/],
    [{ lease: "1" }, /lease is "1"; accepted is a number of ms/],
    [{ timeout: 0 }, /timeout is 0 ms; accepted is 1 ms or longer/],
    [{ retry: { attempts: 0 } }, /retry.attempts is 0/],
    [{ retry: { backoff: 5 } }, /retry.backoff is 5; accepted is a function/],
    [{ retry: { retries: 5 } }, /retry has no option "retries"/],
    [{ concurency: 5 }, /no option "concurency". Did you mean "concurrency"/],
    [null, /options is null/],
  ])("refuse %o", (options, message) => {
    const { queue } = consumerStage();
    expect(() => Reflect.apply(queue.consume, queue, [() => {}, options])).toThrow(
      expect.objectContaining({ code: "invalid-argument", message: expect.stringMatching(message) }),
    );
  });

  it("may be undefined, and then have their defaults", async () => {
    const { queue } = consumerStage();
    const options = { concurrency: undefined, lease: undefined, retry: undefined, timeout: undefined };
    await queue.consume(() => {}, options).close();
    await queue.consume(() => {}, { retry: { attempts: undefined, backoff: undefined } }).close();
    expect(() => Reflect.apply(queue.consume, queue, ["handler"])).toThrow(
      /handler is "handler"; accepted is a function/,
    );
  });
});
