import { describe, expect, it } from "vitest";
import { RedisQueue } from "../../src/engines/redis/redis-queue.js";
import { neededCommands } from "../../src/engines/redis/rights.js";
import { sources } from "../../src/engines/redis/scripts/sources.generated.js";
import { Queue } from "../../src/index.js";
import { sources as wakingSources } from "../../src/waking/sources.generated.js";
import { calls, rightTo, userRules, users } from "../support/acl-users.js";
import { engineAs, withUsers } from "../support/case-as-users.js";
import { closedAtEnd } from "../support/closed-at-end.js";

/** The users of docs/how-to/users.md have the commands that they need and no others, and are refused what is not theirs. */

const scripts: Readonly<Record<string, string>> = { ...sources, ...wakingSources };

/** What a script runs, also by a name that it chooses first. In a Cluster it publishes otherwise, which the page says apart. */
function commandsOf(name: string): string[] {
  const source = scripts[name] ?? "";
  const words = source.matchAll(/(?:\bcall|variadic)\("([A-Z]+)"|"([HZ]SCAN|PUBLISH)"/g);
  return Array.from(words, ([, called, chosen]) => called ?? chosen ?? "");
}

const listing = ["list-dead", "list-ended", "list-leased", "list-waiting"];
/** The scripts of what each may do, and what is sent besides. */
const programs: Record<string, { scripts: string[]; sends: string[] }> = {
  producer: { scripts: ["schedule", "cancel", "reschedule", "get", "enlist"], sends: [] },
  consumer: {
    scripts: ["claim", "acknowledge", "retry", "release", "bury", "extend", "turn", "leave", "enlist"],
    sends: ["SUBSCRIBE", "UNSUBSCRIBE"],
  },
  viewer: { scripts: ["get", "counts", ...listing, "audit-scan", "audit-sizes"], sends: [] },
};

describe("The page on users", () => {
  it.each(Object.entries(programs))(
    "gives a %s the commands of its scripts, and no others",
    (name, { scripts: own, sends }) => {
      const needed = ["EVALSHA", "SCRIPT|LOAD", "INFO", ...sends, ...own.flatMap(commandsOf)];
      const given = (userRules.get(name) ?? []).filter((rule) => rule.startsWith("+"));
      expect(given.sort()).toEqual([...new Set(needed.map((command) => `+${command.toLowerCase()}`))].sort());
    },
  );

  it("is about no others", () => {
    expect(users.toSorted()).toEqual(Object.keys(programs).sort());
  });

  it("says whose each operation is that runs scripts, and each list", () => {
    const names = Object.keys(sources);
    const operations = Object.getOwnPropertyNames(RedisQueue.prototype).filter((operation) =>
      names.some((name) => name === operation || name.startsWith(`${operation}-`)),
    );
    const lists = ["scheduled", "due", "leased", "dead"].map((state) => `list of ${state}`);
    expect(calls.toSorted()).toEqual(
      [...operations.filter((operation) => operation !== "list"), ...lists, "repair", "watch"].sort(),
    );
  });
});

it("An engine asks the server about every command that its scripts run", () => {
  const asked = new Set(neededCommands.map(([command]) => command));
  const run = new Set(Object.keys(scripts).flatMap(commandsOf));
  expect(new Set([...run, "EVALSHA", "SCRIPT", "SUBSCRIBE", "UNSUBSCRIBE"])).toEqual(asked);
});

describe("A user as the page has it:", () => {
  const redis = withUsers();
  let queues = 0;

  /** A queue with a message in each state, and an index entry without one, as the user sees it and as `default` does. */
  async function scene(user: string) {
    const name = `orders-${++queues}`;
    const owner = new Queue<string>(name, { engine: closedAtEnd(engineAs(undefined, redis.url)) });
    for (const id of ["leased", "dead"]) await owner.schedule(id, { delay: 0, id });
    const [, dead] = await owner.receive({ max: 2, lease: "1h" });
    await dead?.bury("poison");
    await owner.schedule("far", { delay: "1h", id: "far" });
    await owner.schedule("due", { delay: 0, id: "due" });
    await redis.raw.command("ZADD", `{punctual:${name}}:dead`, 1, "orphan");
    const queue = new Queue<string>(name, { engine: closedAtEnd(engineAs(user, redis.url)) });
    const endLease = () => redis.raw.command("ZADD", `{punctual:${name}}:leases`, "XX", 1, "leased");
    return { owner, queue, endLease };
  }

  async function consumed(queue: Queue<string>): Promise<void> {
    await using consumer = queue.consume(() => {});
    throw await new Promise<unknown>((resolve, reject) => {
      consumer.on("error", resolve);
      consumer.on("acknowledged", ({ id }) => reject(new Error(`${id} was consumed`)));
    });
  }

  /** Each call that can be refused, by its name on the page. */
  const refusable: Readonly<Record<string, (queue: Queue<string>) => Promise<unknown>>> = {
    schedule: (queue) => queue.schedule("new", { delay: "1h" }),
    claim: (queue) => queue.receive(),
    watch: consumed,
    "list of due": (queue) => queue.list({ state: "due" }),
    "list of leased": (queue) => queue.list({ state: "leased" }),
    audit: (queue) => queue.audit(),
    cancel: (queue) => queue.cancel("far"),
    reschedule: (queue) => queue.reschedule("far", { delay: "2h" }),
    pause: (queue) => queue.pause(),
    resume: (queue) => queue.resume(),
    remove: (queue) => queue.remove(["dead"]),
    purge: (queue) => queue.purge("waiting"),
    revive: (queue) => queue.revive("all"),
    repair: (queue) => queue.repair(),
  };
  /** These need a lease, so whoever may not claim never comes to them. */
  const settling = ["acknowledge", "retry", "release", "bury", "extend"];
  const refused = users.flatMap((user) =>
    calls.filter((call) => rightTo(call, user) === "no").map((call) => ({ user, call })),
  );

  it("all that a user may not do is tried", () => {
    const tried = [...Object.keys(refusable), ...settling];
    expect(new Set(refused.map(({ call }) => call))).toEqual(new Set(tried));
  });

  it.each(refused.filter(({ call }) => !settling.includes(call)))(
    "a $user may not $call, and changes nothing",
    async ({ user, call }) => {
      const { queue, owner } = await scene(user);
      const state = async () => [await owner.counts(), await owner.audit(), await owner.get("far")];
      const before = await state();
      await expect(refusable[call]?.(queue)).rejects.toMatchObject({
        code: "misconfigured",
        message: expect.stringMatching(/^The user of Redis lacks /),
      });
      expect(await state()).toEqual(before);
    },
  );

  const atTimes = users.flatMap((user) =>
    calls.filter((call) => rightTo(call, user) === "alone").map((call) => ({ user, call })),
  );

  it("only what a producer counts depends on the leases", () => {
    expect(atTimes).toEqual([{ user: "producer", call: "counts" }]);
  });

  it("a producer may count until a lease has ended, and not after that", async () => {
    const { queue, owner, endLease } = await scene("producer");
    expect(await queue.counts()).toEqual(await owner.counts());
    await endLease();
    await expect(queue.counts()).rejects.toMatchObject({ code: "misconfigured" });
  });
});
