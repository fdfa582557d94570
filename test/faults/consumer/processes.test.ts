import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { defineScript } from "../../../src/scripting/script.js";
import { queueKeys } from "../../../src/engines/redis/keys.js";
import { sources } from "../../../src/engines/redis/scripts/sources.generated.js";
import { runs } from "../../support/fault-proxy.js";
import { redisEngine } from "../../../src/engines/redis/engine.js";
import { FaultStage } from "./fault-stage.js";
import { blockedFor, type Plan } from "./task.js";
import { workerProgram } from "./worker-process.js";

let program: Awaited<ReturnType<typeof workerProgram>>;
let stage: FaultStage;
beforeAll(async () => {
  program = await workerProgram();
});
afterAll(() => program[Symbol.asyncDispose]());
beforeEach(async () => {
  stage = await FaultStage.start();
});
afterEach(() => stage[Symbol.asyncDispose]());

const lease = 1_000;
const worker = (name: string, url?: string, options: { lease?: number; concurrency?: number } = {}) =>
  stage.worker(program.path, { name, lease, concurrency: 2, ...options }, url);
const script = (name: keyof typeof sources) => runs(defineScript(name, sources[name]));
const settlements = (["acknowledge", "retry", "release", "bury", "extend"] as const).map(script);

/** The first process has the messages in hand, and the second one, which is idle, is running. */
async function twoProcesses(...plans: Plan[]) {
  const { history, producer } = stage;
  const first = worker("first");
  await stage.running(first);
  const ids = plans.map((plan, n) => `${plan}-${n}`);
  await producer.scheduleAll(ids.map((id, n) => ({ id, plan: plans[n]!, delay: 0 })));
  await history.until(() => ids.every((id) => history.start(id, "first")), "the first process has them");
  const second = worker("second");
  await stage.running(second);
  return { first, second, ids };
}

/** The first process is cut off and killed at one point of its work on the message `m`; gives the second one, which is idle. */
async function killedInside(name: "claim" | "acknowledge", cut: "cut-before-request" | "cut-before-reply") {
  const { history, producer, proxy } = stage;
  const second = worker("second", undefined, { concurrency: 1 });
  await producer.schedule("keeps the second one busy", "hold", 0);
  await history.until(() => history.start("keeps the second one busy"), "the second process is busy");
  const first = worker("first", proxy.url);
  await stage.running(first);
  // Cut when it runs, not when the server says that it must be loaded first.
  await stage.raw((raw) => raw.command("SCRIPT", "LOAD", sources[name]));
  const { happened } = proxy.plan(cut, script(name));
  // What is cut off comes back at once; this one must not before it is killed.
  proxy.refuse();
  await producer.schedule("m", "succeed", 0);
  await happened;
  await first.kill();
  proxy.heal();
  second.letGo();
  return second;
}

describe("What a process held that was killed by SIGKILL is delivered by an idle second one within 2 s", () => {
  it("when it was at work", async () => {
    const { history } = stage;
    const { first, second, ids } = await twoProcesses("hold", "hold");
    await first.kill();
    const killedAt = Date.now();
    await history.until(() => ids.every((id) => history.start(id, "second")), "the second process has them", 3_000);
    for (const id of ids) {
      const { at, attempt } = history.start(id, "second")!;
      expect(at - killedAt).toBeLessThan(2_000);
      expect(attempt).toBe(2);
    }
    second.letGo();
    await history.until(() => history.isAcknowledged(...ids), "they are acknowledged");
    await stage.everyoneWorks([second]);
    expect(await stage.problems({ leasesMayEnd: true })).toEqual([]);
  });

  it.each([
    ["it had claimed, but not heard of it", "claim", "cut-before-reply", [["second", 2]]],
    [
      "it had not acknowledged what it had done",
      "acknowledge",
      "cut-before-request",
      [
        ["first", 1],
        ["second", 2],
      ],
    ],
  ] as const)("when %s", async (_, name, cut, deliveries) => {
    const { history } = stage;
    const second = await killedInside(name, cut);
    const killedAt = Date.now();
    const { at } = await history.until(() => history.start("m", "second"), "the second process has it", 3_000);
    expect(at - killedAt).toBeLessThan(2_000);
    await history.until(() => history.isAcknowledged("m"), "it is acknowledged");
    expect(history.starts.get("m")?.map(({ consumer, attempt }) => [consumer, attempt])).toEqual(deliveries);
    await stage.everyoneWorks([second]);
    expect(await stage.problems({ leasesMayEnd: true })).toEqual([]);
  });

  it("unless it had acknowledged it and only not heard of that: then it is done", async () => {
    const { history } = stage;
    const second = await killedInside("acknowledge", "cut-before-reply");
    expect(await stage.queue.get("m")).toBeUndefined();
    await stage.everyoneWorks([second]);
    expect(history.starts.get("m")?.map(({ consumer, attempt }) => [consumer, attempt])).toEqual([["first", 1]]);
    expect(await stage.problems({ leasesMayEnd: true, unheard: ["m"] })).toEqual([]);
  });
});

describe("A process that was away for longer than its lease", () => {
  it("by SIGSTOP and SIGCONT, is fenced: it gets lease-lost, is told of it, changes nothing, and works on", async () => {
    const { history } = stage;
    const { first, second, ids } = await twoProcesses("hold", "hold");
    first.pause();
    // Lies in its pipe: when it goes on it may acknowledge before any of its timers has run.
    first.letGo();
    await history.until(() => ids.every((id) => history.start(id, "second")), "the second process has them", 3_000);
    first.continue();
    const told = () => ids.every((id) => history.of("lost", { id, consumer: "first" }).length === 1);
    await history.until(told, "the first process is told that its leases are lost");
    const refused = () => ids.every((id) => history.of("refused", { id, consumer: "first" }).length === 1);
    await history.until(refused, "its acknowledgements are refused");
    expect(new Set([...history.of("lost"), ...history.of("refused")].map(({ code }) => code))).toEqual(
      new Set(["lease-lost"]),
    );
    // The second lease still stands.
    expect(await stage.queue.counts()).toMatchObject({ leased: 2, due: 0 });
    second.letGo();
    await history.until(() => history.isAcknowledged(...ids), "they are acknowledged");
    expect(history.of("settled").map(({ consumer }) => consumer)).toEqual(["second", "second"]);
    await stage.everyoneWorks([first, second]);
    expect(await stage.problems({ leasesMayEnd: true })).toEqual([]);
  });

  it("by a blocked event loop, is fenced and works on, and the message was delivered twice at most", async () => {
    const { history } = stage;
    const { first, second, ids } = await twoProcesses("block");
    const [id = ""] = ids;
    await history.until(() => history.isAcknowledged(id), "it is acknowledged");
    expect(history.of("settled").map(({ consumer }) => consumer)).toEqual(["second"]);
    const unblocked = blockedFor + 5_000;
    await history.until(() => history.of("lost", { id, consumer: "first" })[0], "the first process is told", unblocked);
    await history.until(() => history.of("refused", { id, consumer: "first" })[0], "its acknowledgement is refused");
    expect([...history.of("lost"), ...history.of("refused")].map(({ code }) => code)).toEqual([
      "lease-lost",
      "lease-lost",
    ]);
    expect(history.starts.get(id)?.map(({ consumer, attempt }) => [consumer, attempt])).toEqual([
      ["first", 1],
      ["second", 2],
    ]);
    expect(await stage.queue.get(id)).toBeUndefined();
    await stage.everyoneWorks([first, second]);
    expect(await stage.problems({ leasesMayEnd: true })).toEqual([]);
  });
});

describe("What reaches Redis after its lease has ended", () => {
  it("changes nothing, whatever it is: it gets lease-lost, and the second lease stands", async () => {
    const { history, producer, proxy } = stage;
    const first = stage.consumer({ name: "first", lease });
    await stage.running(first);
    const plans = ["succeed", "fail-once", "release-once", "bury", "extend"] as const;
    // With the first of them all that comes behind it on its connection is held up.
    const held = proxy.plan("hold", (request) => settlements.some((matches) => matches(request)));
    await producer.scheduleAll(plans.map((plan) => ({ id: plan, plan, delay: 200 })));
    await held.happened;
    const second = stage.consumer({ name: "second", lease, plan: "hold" }, () =>
      redisEngine({ url: stage.server.url }),
    );
    await history.until(() => plans.every((id) => history.start(id, "second")), "the second consumer has them");
    held.release();
    await held.reply;
    await history.until(() => plans.every((id) => history.of("lost", { id }).length === 1), "the first one is told");
    expect(new Set(history.of("lost").map(({ consumer, code }) => `${consumer}: ${code}`))).toEqual(
      new Set(["first: lease-lost"]),
    );
    expect(history.of("settled")).toEqual([]);
    expect(await stage.queue.counts()).toMatchObject({ leased: 5, due: 0, scheduled: 0, dead: 0 });
    expect((await stage.queue.get("extend"))?.leaseUntil?.getTime()).toBeLessThan(Date.now() + 2 * lease);
    second.letGo();
    await history.until(() => history.isAcknowledged(...plans), "the second consumer does them");
    expect(history.of("settled").every(({ consumer }) => consumer === "second")).toBe(true);
    await stage.everyoneWorks([first, second]);
    expect(await stage.problems({ leasesMayEnd: true })).toEqual([]);
  });
});

describe("A consumer that closes", () => {
  it("hands back what its handlers have not finished: others have it at once, and no attempt is used", async () => {
    const { history, producer } = stage;
    const first = worker("first", undefined, { lease: 30_000, concurrency: 5 });
    await stage.running(first);
    const ids = ["a", "b", "c", "d", "e"];
    await producer.scheduleAll(ids.map((id) => ({ id, plan: "hold", delay: 0 })));
    await history.until(() => ids.every((id) => history.start(id, "first")), "the first process has them");
    const second = worker("second", undefined, { lease: 30_000, concurrency: 5 });
    await stage.running(second);
    await first.close();
    await history.until(() => ids.every((id) => history.start(id, "second")), "the second process has them", 1_000);
    expect(ids.map((id) => history.start(id, "second")?.attempt)).toEqual(ids.map(() => 1));
    second.letGo();
    await history.until(() => history.isAcknowledged(...ids), "they are acknowledged");
    expect(history.of("settled").every(({ consumer }) => consumer === "second")).toBe(true);
  });

  it("hands back what it has claimed and not started", async () => {
    const { history, producer, proxy } = stage;
    const first = stage.consumer({ name: "first" });
    await stage.running(first);
    const ids = Array.from({ length: 20 }, (_, n) => `m${n}`);
    await producer.scheduleAll(ids.map((id) => ({ id, plan: "succeed", delay: 400 })));
    // So far away that the reply of its claim is still under way when it is told to close.
    proxy.delay(250);
    const leased = () => stage.raw((raw) => raw.command("ZCARD", queueKeys("punctual", stage.name).leases));
    await expect.poll(leased, { interval: 5, timeout: 5_000 }).toBe(20);
    await first.close();
    expect(history.starts.size).toBe(0);
    proxy.heal();
    expect(await stage.queue.counts()).toMatchObject({ due: 20, leased: 0 });
    const second = stage.consumer({ name: "second" });
    await history.until(() => history.isAcknowledged(...ids), "the second consumer does them");
    expect(ids.map((id) => history.start(id)?.attempt)).toEqual(ids.map(() => 1));
    await stage.everyoneWorks([second]);
    expect(await stage.problems()).toEqual([]);
  });
});
