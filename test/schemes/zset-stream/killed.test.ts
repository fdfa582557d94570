import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished, vi } from "vitest";
import { zsetStreamEngine } from "../../../src/engines/zset-stream/engine.js";
import { Queue } from "../../../src/queue.js";
import { bundle } from "../../support/bundle.js";
import { closedAtEnd } from "../../support/closed-at-end.js";
import { withRedis } from "../../support/with-redis.js";

const redis = withRedis();
const groups = ["mail", "stats"] as const;
const count = 5_000;

/** Numbers that look random, and are the same in each run. */
function* chances(seed: number): Generator<number, never> {
  for (let state = seed; ;) {
    state = (state * 48_271) % 2_147_483_647;
    yield state / 2_147_483_647;
  }
}

it("Of 5,000 messages none is lost for either of two groups, nor early, while their consumers are killed at random", async () => {
  const program = closedAtEnd(await bundle(fileURLToPath(new URL("programs/consumer.ts", import.meta.url))));
  const chance = chances(7);
  const handled = new Map(groups.map((group) => [group, new Map<number, number>()]));
  let early = 0;
  let progress = () => {};
  const start = (group: (typeof groups)[number]): ChildProcess => {
    const child = fork(program.path, [JSON.stringify({ url: redis.url, queue: "killed", group })], {
      execArgv: [],
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    child.on("message", ([payload, lateness]: [number, number]) => {
      const seen = handled.get(group)!;
      seen.set(payload, (seen.get(payload) ?? 0) + 1);
      if (lateness < 0) early += 1;
      progress();
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    return child;
  };
  const kill = async (child: ChildProcess) => {
    const exit = once(child, "exit");
    child.kill("SIGKILL");
    await exit;
  };

  const children = groups.flatMap((group) => [start(group), start(group)].map((child) => ({ group, child })));
  const engines = groups.map((group) => closedAtEnd(zsetStreamEngine({ url: redis.url, group })));
  const queues = engines.map((engine) => new Queue<number>("killed", { engine }));
  // A group gets what comes due from its first claim on.
  await vi.waitFor(
    async () => expect(await redis.raw.command("SCARD", "{punctual:killed}:zset-stream:groups")).toBe(groups.length),
    10_000,
  );

  let kills = 0;
  const until = (enough: number) =>
    new Promise<void>((resolve) => {
      progress = () => {
        if (groups.every((group) => handled.get(group)!.size >= enough)) resolve();
      };
      progress();
    });
  const scheduling = queues[0]!.scheduleMany(
    Array.from({ length: count }, (_, number) => ({ payload: number, id: `m-${number}`, delay: number / 2 })),
  );
  // One is killed after some progress of both groups, a new one comes, until a tenth of the messages is left.
  for (let enough = 200; enough < count * 0.9; enough += Math.ceil(200 + 500 * chance.next().value)) {
    await until(enough);
    const victim = children[Math.floor(chance.next().value * children.length)]!;
    await kill(victim.child);
    victim.child = start(victim.group);
    kills += 1;
  }
  await scheduling;
  await until(count);
  expect(kills).toBeGreaterThan(6);
  expect(groups.map((group) => handled.get(group)!.size)).toEqual([count, count]);
  expect(early).toBe(0);

  // Some were handled and not acknowledged by one that was killed: they come again, and then nothing is left of any.
  await vi.waitFor(async () => {
    for (const queue of queues) expect(await queue.counts()).toMatchObject({ due: 0, leased: 0 });
  }, 10_000);
  expect(await redis.raw.command("XLEN", "{punctual:killed}:zset-stream:stream")).toBe(0);
  expect(await redis.raw.command("EXISTS", "{punctual:killed}:zset-stream:messages")).toBe(0);
}, 60_000);
