import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { openBench } from "../../demo/compare/bench.js";
import type { ConsumerJob } from "../../demo/compare/consumer-process.js";
import { kindIn } from "../../demo/compare/kind.js";
import { inOrder } from "../../demo/compare/record.js";
import { comparisonTable, jsonComparison, markdownTable } from "../../demo/compare/report.js";
import { type Comparison, messagesLeft } from "../../demo/compare/run-subject.js";
import { subjects } from "../../demo/compare/subjects.js";
import { Lateness } from "../../demo/lateness.js";
import { PunctualError } from "../../src/errors.js";
import { filesUnder, root } from "../source-files.js";
import { withRedis } from "../support/with-redis.js";
import { builtDemo, type Ended, endOf, helpOf } from "./built-demo.js";

const built = join(builtDemo, "compare");
const redis = withRedis();

let folder: string;
let help: Ended;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "punctual-compare-test-"));
  help = await helpOf("compare");
}, 60_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs the comparison. Temporary files go into a folder of our own, so what is left of them is seen. */
async function run(args: readonly string[]): Promise<Ended> {
  const program = spawn(process.execPath, [join(built, "main.js"), ...args], {
    env: { ...process.env, TMPDIR: folder },
    stdio: ["ignore", "pipe", "pipe"],
  });
  return endOf(program);
}

const comparison: Comparison = {
  subject: "rabbitmq",
  crash: "none",
  figures: {
    scheduled: 1_000,
    delivered: 999,
    retried: 0,
    cancelled: 0,
    lost: 1,
    duplicated: 2,
    early: 3,
    lateness: new Lateness([1, 1.26]),
    seconds: 2,
  },
  perSecond: 499.5,
  spent: undefined,
};
const onRedis: Comparison = {
  ...comparison,
  subject: "redis",
  spent: { commandsAMessage: 4.123, bytesAPendingMessage: 312.4, cpuSeconds: 0.5 },
};

const keys =
  "engine crash scheduled delivered lost duplicated early latenessMs messagesPerSecond commandsAMessage bytesAPendingMessage redisCpuSeconds";

describe("npm run compare", () => {
  it("is built by its script, which hands arguments on, and names every option.", () => {
    expect(help).toMatchObject({ status: 0, stderr: "" });
    for (const option of ["engines", "many", "messages", "seconds", "consumers", "write", "json"]) {
      expect(help.stdout).toContain(`--${option}`);
    }
  });

  it("runs 1,000 messages on two engines, with and without a crash, prints the figures, and writes them into a page.", async () => {
    const page = join(root, ".build", `comparison-${process.pid}.md`);
    await writeFile(page, "Before.\n\n<!-- compare -->\n\nold\n\n<!-- end -->\n\nAfter.\n");
    const small = ["--messages", "1000", "--seconds", "1", "--consumers", "3"];
    const { status, stdout, stderr } = await run([
      "--engines",
      "zset-remove,redis",
      ...small,
      "--json",
      "--write",
      page,
    ]);
    expect({ status, stderr }).toMatchObject({ status: 0 });
    const figures = JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "") as Record<string, unknown>[];
    expect(figures.map(({ engine, crash }) => [engine, crash])).toEqual([
      ["redis", "none"],
      ["zset-remove", "none"],
      ["redis", "one"],
      ["zset-remove", "one"],
    ]);
    for (const one of figures) expect(Object.keys(one)).toEqual(keys.split(" "));
    for (const one of figures) expect(one).toMatchObject({ scheduled: 1_000, early: 0 });
    for (const one of figures.slice(0, 2)) expect(one).toMatchObject({ delivered: 1_000, lost: 0, duplicated: 0 });
    expect(figures[2]).toMatchObject({ lost: 0 });
    expect(figures[3]).toMatchObject({ duplicated: 0 });
    const text = await readFile(page, "utf8");
    await rm(page);
    expect(text).toMatch(/^Before\.\n\n<!-- compare -->\n\n1,000 messages, .*\n\n<!-- end -->\n\nAfter\.\n$/s);
    expect(text.match(/^\| (redis|zset-remove) +\| .*\|$/gm)).toHaveLength(4);
    expect(text).not.toContain("old");
    expect(await readdir(folder)).toEqual([]);
  }, 180_000);

  it("knows every engine but the one that processes cannot share, and says so of one that there is not.", async () => {
    const { status, stdout, stderr } = await run(["--engines", "nobody"]);
    const engines = filesUnder("src/engines", /\/engine\.ts$/).map((path) => path.split("/").at(-2) ?? "");
    const named = /^There is no engine nobody; there are (.*)\.\n$/.exec(stderr)?.[1]?.split(", ") ?? [];
    expect(named[0]).toBe("redis");
    expect(named.toSorted()).toEqual(
      [...engines, "zset-list reliable"].filter((engine) => engine !== "memory").toSorted(),
    );
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
  });

  it("gives all messages to every engine but the broker, which gets one in five.", async () => {
    const spared = (await subjects()).subjects.filter(({ oneIn }) => oneIn > 1);
    expect(spared.map(({ name, oneIn }) => [name, oneIn])).toEqual([["rabbitmq", 5]]);
  });

  it.each([
    [["--messages", "0"], '--messages takes a whole number from 1 to 1000000, not "0".\n'],
    [["--seconds", "no"], '--seconds takes a number from 0.1 to 600, not "no".\n'],
    [["--consumers", "0"], '--consumers takes a whole number from 1 to 100, not "0".\n'],
    [["--write", join(root, "README.md")], "has no place for the tables: the lines <!-- compare --> and"],
  ])("refuses %j with a sentence, before it runs anything.", async (args, sentence) => {
    const { status, stdout, stderr } = await run(["--engines", "redis", ...args]);
    expect(stderr).toContain(sentence);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
  });

  it("says why rabbitmq is left out where there is no broker, and goes on without.", async () => {
    const said = vi.spyOn(console, "error").mockImplementation(() => {});
    try {
      await using bench = await openBench(new Set(["rabbitmq"]), async () => {
        throw new Error("There is no rabbitmq-server: install it.");
      });
      expect(bench.urls.rabbitmq).toBeUndefined();
      expect(said.mock.calls).toEqual([["rabbitmq is left out: There is no rabbitmq-server: install it."]]);
    } finally {
      said.mockRestore();
    }
  });

  it("leaves no consumer behind when it is killed.", async () => {
    const subject = {
      name: "redis",
      engine: "redis",
      options: {},
      server: "redis",
      kind: "at least once",
      oneIn: 1,
    } as const;
    const { url } = redis;
    const job: ConsumerJob = {
      subject,
      url,
      clock: url,
      queue: "orphan",
      concurrency: 1,
      lease: 2_000,
      work: 0,
      notes: join(folder, "notes"),
    };
    const consumer = fork(join(built, "consumer.js"), [JSON.stringify(job)], { execArgv: [] });
    try {
      await once(consumer, "message");
      const exit = once(consumer, "exit");
      // As it is for a child when its parent is no more.
      consumer.disconnect();
      expect(await exit).toEqual([0, null]);
    } finally {
      consumer.kill("SIGKILL");
      await rm(job.notes);
    }
  });
});

describe("What an engine promises is what its page says before the first program:", () => {
  it.each([
    ["A zset. **At most\nonce**: what a process holds is lost.\n\n```ts\nat least once", undefined, "at most once"],
    ["At least once, for each group.\n", undefined, "at least once"],
    ["Plain, at most once, and `reliable`, at least once.\n", undefined, "at most once"],
    ["Plain, at most once, and `reliable`, at least once.\n", "reliable", "at least once"],
  ])("%j, option %s: %s", (text, option, kind) => {
    expect(kindIn(text, "page.md", option)).toBe(kind);
  });

  it.each([
    ["A zset.\n```ts\nat most once", undefined],
    ["At most once.\n", "reliable"],
  ])("%j, option %s, is refused with a sentence", (text, option) => {
    expect(() => kindIn(text, "page.md", option)).toThrow(/^page\.md has to say .*before its first program whether/);
  });
});

describe("The figures", () => {
  it("have a column each, and a dash where only a Redis could say it.", () => {
    const [titles, rabbitmq, ours] = comparisonTable([comparison, onRedis]).split("\n");
    const columns = "engine messages delivered lost twice early late p50 late p99 messages/s commands bytes Redis CPU";
    expect(titles?.trim().replace(/ {2,}/g, " ")).toBe(columns);
    expect(rabbitmq?.trim().split(/ {2,}/)).toEqual([
      "rabbitmq",
      "1,000",
      "999",
      "1",
      "2",
      "3",
      "1.0 ms",
      "1.3 ms",
      "500",
      "–",
      "–",
      "–",
    ]);
    expect(ours?.trim().split(/ {2,}/).slice(-3)).toEqual(["4.12", "312", "0.50 s"]);
  });

  it("are a table of Markdown for a page.", () => {
    const [titles, rule, ...rows] = markdownTable([comparison, onRedis]).split("\n");
    expect(titles).toMatch(/^\| engine {3}\| messages \| delivered \| lost \|/);
    expect(rule).toMatch(/^\| -{8} \| -{7}: \| -{8}: \| -{3}: \|/);
    expect(new Set([titles, rule, ...rows].map((line) => line?.length)).size).toBe(1);
  });

  it("put a start before its end though the estimate of the clock stepped back between them.", () => {
    const step = (kind: "started" | "ended", at: number) => ({ kind, number: 1, dueAt: 0, at });
    const steps = inOrder([step("started", 100), step("ended", 90)]);
    expect(steps.map(({ kind, at, place }) => [kind, at, place])).toEqual([
      ["started", 100, 100],
      ["ended", 90, 100],
    ]);
  });

  it("are null in JSON where only a Redis could say it.", () => {
    expect(Object.keys(jsonComparison(onRedis))).toEqual(keys.split(" "));
    expect(jsonComparison(comparison)).toMatchObject({ commandsAMessage: null, redisCpuSeconds: null });
  });

  it("are known to be all only where the engine can count, and no other failure is taken for that.", async () => {
    const failing = (error: Error) => messagesLeft({ counts: () => Promise.reject(error) });
    expect(await failing(new PunctualError("unsupported", "It cannot count."))).toBeUndefined();
    await expect(failing(new PunctualError("not-sent", "Gone."))).rejects.toThrow("Gone.");
  });
});
