import assert from "node:assert/strict";
import type { ConformanceCase } from "../conformance-case.js";
import type { Stage, Taken } from "../stage.js";
import { onStage, second } from "../stage.js";

const error = { name: "Error", message: "again" };

async function fail(stage: Stage, { receipts }: Taken): Promise<void> {
  const retries = receipts.map((receipt) => ({ ...receipt, delay: 0, error }));
  assert.deepEqual(await stage.queue.retry(retries), ["settled"]);
}

/** Fails every delivery, and says how many there were before the message lay with the dead letters. */
async function failUntilDead(stage: Stage, id: string, attempts: number): Promise<number> {
  for (let deliveries = 0; deliveries < 20; deliveries++) {
    const claim = await stage.take({ attempts });
    if (claim.ids.length === 0) return deliveries;
    assert.deepEqual(
      claim.messages.map((message) => [message.id, message.attempt]),
      [[id, deliveries + 1]],
    );
    await fail(stage, claim);
  }
  throw new assert.AssertionError({ message: "20 deliveries and not dead" });
}

export const attemptsCases: readonly ConformanceCase[] = [
  {
    promise: 6,
    operation: "retry",
    name: "Nothing is dropped silently: after its last attempt a message is dead, with its attempts, error and reason attempts",
    run: onStage(async (stage) => {
      await stage.put("a");
      assert.equal(await failUntilDead(stage, "a", 3), 3);
      const message = await stage.read("a");
      assert.deepEqual(
        [message.state, message.attempt, message.buried?.reason, message.lastError?.message],
        ["dead", 3, "attempts", "again"],
      );
    }),
  },
  {
    operation: "claim",
    name: "The limit of attempts of a message goes before that of the consumer, be it higher or lower",
    run: onStage(async (stage) => {
      await stage.put("lower", { attempts: 2 });
      assert.equal(await failUntilDead(stage, "lower", 5), 2);
      await stage.put("higher", { attempts: 4 });
      assert.equal(await failUntilDead(stage, "higher", 1), 4);
      await stage.put("once", { attempts: 1 });
      assert.equal(await failUntilDead(stage, "once", 5), 1);
    }),
  },
  {
    promise: 6,
    operation: "claim",
    name: "Nothing is dropped silently: a lease that ends on the last attempt leaves the message dead, and a claim says so",
    run: onStage(async (stage) => {
      await stage.put("a", { attempts: 2 });
      await fail(stage, await stage.take());
      const last = await stage.take({ lease: second });
      assert.deepEqual(last.ids, ["a"]);
      await stage.harness.elapse(second + 20);
      const before = await stage.read("a");
      const claim = await stage.take();
      assert.deepEqual(claim.ids, []);
      assert.deepEqual(
        claim.buried.map(({ id, reason }) => [id, reason]),
        [["a", "attempts"]],
      );
      const message = await stage.read("a");
      assert.deepEqual(
        [message.state, message.attempt, message.buried?.reason, message.lastError?.message],
        ["dead", 2, "attempts", "again"],
      );
      assert.equal(message.buried?.at, last.leaseUntil, "as of the end of the lease");
      assert.deepEqual(before, message, "a reader saw it so before anybody reclaimed it");
    }),
  },
  {
    operation: "claim",
    name: "The limit of attempts is fixed when a message is claimed, and holds for the lease",
    run: onStage(async (stage) => {
      await stage.put("a");
      const first = await stage.take({ attempts: 1, lease: second });
      assert.deepEqual(
        first.messages.map((message) => message.attempts),
        [1],
      );
      await stage.harness.elapse(second + 20);
      assert.deepEqual((await stage.take({ attempts: 9 })).ids, [], "it had one attempt, and that is used");
      assert.equal((await stage.read("a")).buried?.reason, "attempts");
    }),
  },
  {
    promise: 6,
    operation: "claim",
    name: "Nothing is dropped silently: what has used more attempts than the consumer allows is buried, not delivered",
    run: onStage(async (stage) => {
      await stage.put("a");
      for (let attempt = 1; attempt <= 3; attempt++) await fail(stage, await stage.take({ attempts: 5 }));
      const claim = await stage.take({ attempts: 3 });
      assert.deepEqual(claim.ids, []);
      assert.deepEqual(
        claim.buried.map(({ id, reason }) => [id, reason]),
        [["a", "attempts"]],
      );
      const message = await stage.read("a");
      assert.deepEqual([message.state, message.attempt], ["dead", 3]);
    }),
  },
  {
    operation: "claim",
    name: "What has used more attempts than the consumer allows is not delivered, and the claim says why",
    run: onStage(async (stage) => {
      await stage.put("a");
      for (let attempt = 1; attempt <= 3; attempt++) await fail(stage, await stage.take({ attempts: 5 }));
      const claim = await stage.take({ attempts: 3 });
      assert.deepEqual(claim.ids, []);
      assert.deepEqual(
        claim.buried.map(({ id, reason }) => [id, reason]),
        [["a", "attempts"]],
      );
      assert.deepEqual((await stage.take({ attempts: 5 })).ids, [], "nor later to one that allows more");
    }),
  },
  {
    operation: "bury",
    name: "Buried counts the delivery that it ends as an attempt, released does not",
    run: onStage(async (stage) => {
      await stage.put("a");
      await fail(stage, await stage.take());
      await stage.queue.release((await stage.take()).receipts);
      const { receipts, messages } = await stage.take();
      assert.deepEqual(
        messages.map((message) => message.attempt),
        [2],
      );
      await stage.queue.bury(receipts.map((receipt) => ({ ...receipt, reason: "enough" })));
      assert.equal((await stage.read("a")).attempt, 2);
    }),
  },
];
