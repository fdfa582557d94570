import { beforeAll, describe, expect, it } from "vitest";
import { redisEngine } from "../../src/engines/redis/engine.js";
import { neededCommands } from "../../src/engines/redis/rights.js";
import { sources } from "../../src/engines/redis/scripts/sources.generated.js";
import { PunctualError, Queue } from "../../src/index.js";
import { sources as wakingSources } from "../../src/waking/sources.generated.js";
import { read } from "../source-files.js";
import { closedAtEnd } from "../support/closed-at-end.js";
import { withRedis } from "../support/with-redis.js";

/** The users of docs/how-to/users.md: as they stand there they can do what they should, and nothing else. */

const users = new Map(
  [...read("docs/how-to/users.md").matchAll(/^ACL SETUSER (\w+) (.+)$/gm)].map(([, name = "", rules = ""]) => [
    name,
    rules.split(" "),
  ]),
);

const scripts: Readonly<Record<string, string>> = { ...sources, ...wakingSources };

/** What a script runs, also by a name that it chooses first. In a Cluster it publishes otherwise, which the page says apart. */
function commandsOf(name: string): string[] {
  const source = scripts[name] ?? "";
  const words = source.matchAll(/(?:\bcall|variadic)\("([A-Z]+)"|"([HZ]SCAN|PUBLISH)"/g);
  return Array.from(words, ([, called, chosen]) => called ?? chosen ?? "");
}

const lists = ["list-dead", "list-ended", "list-leased", "list-waiting"];
/** The scripts of what each may do, and what is sent besides. */
const programs: Record<string, { scripts: string[]; sends: string[] }> = {
  producer: { scripts: ["schedule", "cancel", "reschedule", "get", "enlist"], sends: [] },
  consumer: {
    scripts: ["claim", "acknowledge", "retry", "release", "bury", "extend", "turn", "leave", "enlist"],
    sends: ["SUBSCRIBE", "UNSUBSCRIBE"],
  },
  viewer: { scripts: ["get", "counts", ...lists, "audit-scan", "audit-sizes"], sends: [] },
};

describe("The page on users", () => {
  it.each(Object.entries(programs))(
    "gives a %s the commands of its scripts, and no others",
    (name, { scripts: own, sends }) => {
      const needed = ["EVALSHA", "SCRIPT|LOAD", "INFO", ...sends, ...own.flatMap(commandsOf)];
      const given = (users.get(name) ?? []).filter((rule) => rule.startsWith("+"));
      expect(given.sort()).toEqual([...new Set(needed.map((command) => `+${command.toLowerCase()}`))].sort());
    },
  );

  it("is about no others", () => {
    expect([...users.keys()].sort()).toEqual(Object.keys(programs).sort());
  });
});

it("An engine asks the server about every command that its scripts run", () => {
  const asked = new Set(neededCommands.map(([command]) => command));
  const run = new Set(Object.keys(scripts).flatMap(commandsOf));
  expect(new Set([...run, "EVALSHA", "SCRIPT", "SUBSCRIBE", "UNSUBSCRIBE"])).toEqual(asked);
});

describe("A user as the page has it:", () => {
  const redis = withRedis();
  let queues = 0;
  beforeAll(async () => {
    for (const [name, rules] of users) await redis.raw.command("ACL", "SETUSER", name, ...rules);
  });

  /** A queue with one message in each state, as the user sees it. */
  async function scene(user: string) {
    const name = `orders-${++queues}`;
    const owner = new Queue<string>(name, { engine: closedAtEnd(redisEngine({ url: redis.url })) });
    for (const id of ["leased", "dead"]) await owner.schedule(id, { delay: 0, id, attempts: 1 });
    const [leased, dead] = await owner.receive({ max: 2, lease: "1h" });
    if (leased === undefined) throw new Error("nothing was due");
    await dead?.bury("poison");
    await owner.schedule("far", { delay: "1h", id: "far" });
    await owner.schedule("due", { delay: 0, id: "due" });
    const login = { username: user, password: "secret" };
    const queue = new Queue<string>(name, { engine: closedAtEnd(redisEngine({ url: redis.url, ...login })) });
    return { owner, queue };
  }
  type Scene = Awaited<ReturnType<typeof scene>>;

  async function consumed({ queue, owner }: Scene): Promise<string> {
    await using consumer = queue.consume(() => {});
    return await new Promise<string>((resolve) => {
      consumer.on("acknowledged", ({ id }) => resolve(id));
      consumer.on("error", (error) => resolve(error instanceof PunctualError ? error.code : String(error)));
      void owner.schedule("now", { delay: 20, id: "now" });
    });
  }

  const calls: Record<string, (scene: Scene) => Promise<unknown>> = {
    schedule: ({ queue }) => queue.schedule("new", { delay: "1h" }),
    "schedule that replaces": ({ queue }) =>
      queue.scheduleMany(
        ["far", "due", "dead"].map((id) => ({ payload: "new", id, onDuplicate: "replace", delay: "1h" })),
      ),
    reschedule: ({ queue }) => queue.reschedule("far", { delay: "2h" }),
    cancel: ({ queue }) => queue.cancelMany(["far", "dead"]),
    get: ({ queue }) => queue.get("leased"),
    counts: ({ queue }) => queue.counts(),
    "list scheduled": ({ queue }) => queue.list({ state: "scheduled" }),
    "list leased": ({ queue }) => queue.list({ state: "leased" }),
    "list dead": ({ queue }) => queue.list({ state: "dead" }),
    audit: ({ queue }) => queue.audit(),
    pause: ({ queue }) => queue.pause(),
    purge: ({ queue }) => queue.purge("waiting"),
    revive: ({ queue }) => queue.revive("all"),
    remove: ({ queue }) => queue.remove(["dead"]),
    receive: async ({ queue }) => {
      const taken = await queue.receive({ max: 10 });
      await Promise.all(taken.map((delivery) => delivery.retry({ error: new Error("x"), delay: 1 })));
    },
    "settle by hand": async ({ queue, owner }) => {
      const [first] = await queue.receive();
      await first?.extend("1m");
      await first?.release();
      const [again] = await queue.receive();
      await again?.bury("poison");
      await owner.audit();
    },
    consume: async (scene_) => {
      const outcome = await consumed(scene_);
      if (outcome === "misconfigured") throw new PunctualError("misconfigured", outcome);
    },
  };

  /** A producer may count and list while no lease has ended. */
  const may: Record<string, string> = {
    producer: "schedule, schedule that replaces, reschedule, cancel, get, pause, counts, list scheduled, list dead",
    consumer:
      "receive, settle by hand, consume, get, counts, reschedule, cancel, list scheduled, list dead, pause, purge, remove",
    viewer: "get, counts, list scheduled, list leased, list dead, audit",
  };
  const cases = Object.keys(programs).flatMap((user) =>
    Object.entries(calls).map(([name, call]) => ({ user, name, call, may: may[user]?.split(", ").includes(name) })),
  );

  it.each(cases.filter((one) => one.may))("a $user may $name", async ({ user, call }) => {
    const set = await scene(user);
    await call(set);
    expect(await set.owner.audit()).toMatchObject({ ok: true });
  });

  it.each(cases.filter((one) => !one.may))(
    "a $user may not $name, and changes nothing",
    async ({ user, name, call }) => {
      const set = await scene(user);
      const before = await set.owner.counts();
      await expect(call(set)).rejects.toMatchObject({ code: "misconfigured" });
      // For a consumer to take, its owner has scheduled one more.
      const more = name === "consume" ? { due: before.due + 1 } : {};
      await expect.poll(() => set.owner.counts()).toEqual({ ...before, ...more });
      expect(await set.owner.audit()).toMatchObject({ ok: true });
    },
  );
});
