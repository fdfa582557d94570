import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { nodeRedis } from "../../../src/clients/node-redis.js";
import type { EngineQueue } from "../../../src/engine.js";
import { delayqueueEngine } from "../../../src/engines/delayqueue/engine.js";
import { bytes, newMessage } from "../../../src/testing/conformance/stage.js";
import { closedAtEnd } from "../../support/closed-at-end.js";
import { withRedis } from "../../support/with-redis.js";
import { comparable, keysIn, type Layout, layouts, moved, recordedSteps, writesOf } from "./recording.js";

const redis = withRedis();
beforeEach(() => redis.raw.command("FLUSHALL"));

function opened(layout: Layout): EngineQueue {
  return closedAtEnd(delayqueueEngine({ url: redis.url, ...layouts[layout] })).open("orders");
}

/** Takes up to 100, as a consumer that runs as many attempts as the Go library does by default. */
async function take(queue: EngineQueue, token: string, lease = 60_000) {
  const claim = await queue.claim({ limit: 100, lease, consumer: "c", token, attempts: 4 });
  return { ...claim, receipts: claim.messages.map(({ id }) => ({ id, token, leaseUntil: claim.leaseUntil })) };
}

const every = Object.keys(layouts) as Layout[];

describe.each(every)("In the layout %s", (layout) => {
  const [first, second, far, intercepted, tick, last] = recordedSteps(layout);
  if (!first || !second || !far || !intercepted || !tick || !last) throw new Error("a recording has six steps");

  it("what we schedule and cancel is what the Go library wrote when it sent and intercepted.", async () => {
    const queue = opened(layout);
    const start = Date.now();
    const message = (id: string, payload: string) => newMessage(id, { payload: bytes(payload), due: { delay: 1_000 } });
    await queue.schedule([message("A1", "cancel A1")]);
    expect(comparable(await keysIn(redis.raw), start)).toEqual(comparable(first.keysAfter, first.atUnixMs));
    await queue.schedule([{ ...message("B2", "remind B2"), due: { at: Date.now() + 1_000 }, attempts: 2 }]);
    expect(comparable(await keysIn(redis.raw), start)).toEqual(comparable(second.keysAfter, first.atUnixMs));
    await queue.schedule([{ ...message("C3", "far C3"), due: { delay: 3_600_000 } }]);
    expect(comparable(await keysIn(redis.raw), start)).toEqual(comparable(far.keysAfter, first.atUnixMs));
    expect(await queue.cancel(["C3"])).toEqual(["cancelled"]);
    expect(comparable(await keysIn(redis.raw), start)).toEqual(comparable(intercepted.keysAfter, first.atUnixMs));
  });

  it("what we take, acknowledge, refuse and give up is what the Go library wrote.", async () => {
    const queue = opened(layout);
    const due = { delay: 0 };
    await queue.schedule([
      newMessage("A1", { payload: bytes("cancel A1"), due }),
      newMessage("B2", { payload: bytes("remind B2"), due, attempts: 2 }),
    ]);
    const start = Date.now();
    const { receipts, leaseUntil } = await take(queue, "one", 2_000);
    const [a, b] = receipts;
    // The second in which its tick took both, with 2 s to consume.
    const second = Number(writesOf(tick).find(([verb, key]) => verb === "zadd" && key?.endsWith(":unack"))?.[2]) - 2;
    expect(comparable(await keysIn(redis.raw), start)).toEqual(comparable(tick.keysAfter, second * 1000));
    const unack = tick.keysAfter.find(({ key }) => key.endsWith(":unack"))?.key ?? "";
    expect(Math.floor(Number(await redis.raw.text("ZSCORE", unack, "A1")) * 1000)).toBe(leaseUntil);

    expect(await queue.acknowledge([a!])).toEqual(["settled"]);
    const refusals = writesOf(last).filter(([verb, key]) => verb === "zadd" && key === unack);
    expect(refusals.length).toBe(3);
    // A refused message stays in unack, with the time of the refusal.
    expect(await queue.retry([{ ...b!, delay: 0 }])).toEqual(["settled"]);
    const left = await keysIn(redis.raw);
    const byText = (a: unknown, b: unknown) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
    expect(left.map(({ key, value }) => [key, Array.isArray(value) ? value.length : value]).toSorted(byText)).toEqual(
      tick.keysAfter
        .filter(({ value }) => value !== "cancel A1")
        .map(({ key, type, value }) => [
          type === "string" ? key.replace(/[^:]*$/, "B2") : key,
          type === "zset" ? 1 : type === "hash" ? { B2: "1" } : value,
        ])
        .toSorted(byText),
    );
    // Taken again with one retry fewer, as after the library's own round.
    const again = await take(queue, "two");
    expect(again.messages.map(({ id, attempt, attempts }) => [id, attempt, attempts])).toEqual([["B2", 2, 2]]);
    expect(await redis.raw.text("HGETALL", unack.replace(":unack", ":retry:cnt"))).toEqual(["B2", "0"]);
    expect(await queue.retry([{ ...again.receipts[0]!, delay: 0 }])).toEqual(["settled"]);
    expect(await keysIn(redis.raw)).toEqual(last.keysAfter);
  });

  it("our consumer finishes what the Go library left, whichever command it wrote last.", async () => {
    const queue = opened(layout);
    const steps = recordedSteps(layout);
    const commands = steps.flatMap((step) => writesOf(step));
    const messages = new Map(
      commands
        .filter(([verb]) => verb === "set")
        .map(([, key = "", payload = ""]) => [key.replace(/^.*:msg:/, ""), payload]),
    );
    // So that all but the far one were due, and all leases have ended, for 10 s.
    const by = Math.floor((Date.now() - last.atUnixMs) / 1000) - 10;
    const seen = new Set<string>();
    for (let count = 1; count <= commands.length; count++) {
      await redis.raw.command("FLUSHALL");
      for (const command of commands.slice(0, count)) await redis.raw.command(...moved(command, by));
      const before = await keysIn(redis.raw);
      const value = (name: string) => before.find(({ key }) => key.endsWith(`:${name}`))?.value;
      const garbage = new Set(value("garbage") as string[]);
      const ended = new Set(((value("unack") ?? []) as [string, number][]).map(([id]) => id));
      const counts = (value("retry:cnt") ?? {}) as Record<string, string>;
      const stored = before.filter(({ type }) => type === "string").map(({ key }) => key.replace(/^.*:msg:/, ""));
      const held = new Set(
        ["pending", "ready", "unack", "retry"].flatMap(
          (name) => JSON.stringify(value(name) ?? []).match(/[0-9a-f-]{36}/g) ?? [],
        ),
      );
      const expected = stored.filter(
        (id) =>
          held.has(id) &&
          !garbage.has(id) &&
          messages.get(id) !== "far C3" &&
          !(ended.has(id) && Number(counts[id] ?? 0) <= 0),
      );
      const delivered: string[] = [];
      for (let round = 0; ; round++) {
        const { receipts, messages: taken, nextAt, now } = await take(queue, `${count}/${round}`);
        delivered.push(...taken.map(({ id }) => id));
        for (const { id, payload } of taken) expect(Buffer.from(payload).toString()).toBe(messages.get(id));
        await queue.acknowledge(receipts);
        if (taken.length === 0 && nextAt > now) break;
      }
      expect([count, ...delivered.toSorted()]).toEqual([count, ...expected.toSorted()]);
      const cancelled = stored.filter((id) => messages.get(id) === "far C3");
      await queue.cancel(cancelled);
      // A message of which only the payload was written, or only it is left, is in no index: it ends by its time to live.
      const orphans = stored.filter((id) => !held.has(id) && !garbage.has(id)).map((id) => `msg:${id}`);
      const rest = (await keysIn(redis.raw)).filter(({ key }) => !orphans.some((name) => key.endsWith(name)));
      expect([count, rest.filter(({ type }) => type !== "hash")]).toEqual([count, []]);
      seen.add(before.map(({ key }) => key.replace(/:[0-9a-f-]{36}$/, "")).join(" "));
    }
    expect(seen.size).toBeGreaterThan(8);
  });
});

describe("The channel of events", () => {
  it("hears of us what it heard of the Go library.", async () => {
    const [step] = recordedSteps("events");
    const recorded = step === undefined ? [] : writesOf(step).filter(([verb]) => verb === "publish");
    expect(recorded.map(([, , text = ""]) => text.replace(/ \d+ /, " time "))).toEqual([
      "1 time 1",
      "2 time 1",
      "3 time 1",
      "4 time 1",
    ]);
    const queue = closedAtEnd(delayqueueEngine({ url: redis.url, reportEvents: true })).open("orders");
    const heard: string[] = [];
    const second = () => Math.floor(Date.now() / 1000);
    const connection = await nodeRedis({ url: redis.url }).connect(1_000);
    onTestFinished(() => connection.destroy());
    await connection.subscribe(recorded[0]?.[1] ?? "", (text) => heard.push(String(text)));
    const before = second();
    await queue.schedule([newMessage("x", { attempts: 2 })]);
    await queue.acknowledge((await take(queue, "one")).receipts);
    await queue.schedule([newMessage("y", { attempts: 2 })]);
    await queue.retry((await take(queue, "two")).receipts.map((receipt) => ({ ...receipt, delay: 0 })));
    await queue.retry((await take(queue, "three")).receipts.map((receipt) => ({ ...receipt, delay: 0 })));
    await expect.poll(() => heard.length).toBe(12);
    expect(heard.map((text) => text.replace(/ \d+ /, " time "))).toEqual(
      [1, 2, 3, 4, 1, 2, 3, 5, 3, 6, 5, 7].map((code) => `${code} time 1`),
    );
    for (const text of heard) {
      const time = Number(text.split(" ")[1]);
      expect(time >= before && time <= second()).toBe(true);
    }
  });
});
