import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RedisServer, startRedisServer } from "../../src/testing/redis-server.js";
import { rawRedis } from "../support/raw-redis.js";
import { builtDemo, type Ended, helpOf } from "./built-demo.js";

const small = ["--messages", "300", "--seconds", "0.3"];

const program = join(builtDemo, "main.js");

let folder: string;
let help: Ended;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "punctual-demo-test-"));
  help = await helpOf("demo");
}, 60_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Starts the demo. Temporary files go into a folder of our own, so what is left of them is seen. */
function start(args: readonly string[], environment: Record<string, string | undefined> = {}) {
  const demo = spawn(process.execPath, [program, ...args], {
    timeout: 60_000,
    env: { ...process.env, REDIS_URL: undefined, TMPDIR: folder, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  demo.stdout.on("data", (chunk) => (stdout += String(chunk)));
  demo.stderr.on("data", (chunk) => (stderr += String(chunk)));
  const ended = once(demo, "close").then(([status]): Ended => ({ status: status as number | null, stdout, stderr }));
  return { demo, ended };
}

function run(args: readonly string[], environment?: Record<string, string | undefined>): Promise<Ended> {
  return start(args, environment).ended;
}

/** Starts a long run and sends a signal as soon as messages are on their way. */
async function interrupted(signal: NodeJS.Signals, environment: Record<string, string | undefined> = {}) {
  const { demo, ended } = start(["--messages", "2000", "--seconds", "30"], environment);
  demo.stderr.on("data", (chunk) => {
    // The first line of the progress bar.
    if (String(chunk).includes("0 %")) demo.kill(signal);
  });
  return ended;
}

async function refuses(url: string): Promise<boolean> {
  try {
    await using redis = await rawRedis(url);
    await redis.command("PING");
    return false;
  } catch {
    return true;
  }
}

describe("npm run demo, without REDIS_URL,", () => {
  it("is built by its script, which hands arguments on.", () => {
    expect(help).toMatchObject({ status: 0, stderr: "" });
    expect(help.stdout).toMatch(/^Usage: npm run demo/);
  });

  it("starts a private Redis and says so, shows figures, and leaves no server and no file.", async () => {
    const { status, stdout, stderr } = await run(small);
    expect(stderr).toMatch(/100 % {2}300 of 300/);
    const url = /private Redis at (redis:\S+), because REDIS_URL is not set/.exec(stdout)?.[1] ?? "";
    expect(stdout).toMatch(/scheduled +300\n/);
    expect(stdout).toMatch(/lost +0\n/);
    expect(stdout).toMatch(/ms {2}[█▏▎▍▌▋▊▉]/);
    expect(status).toBe(0);
    expect(await refuses(url)).toBe(true);
    expect(await readdir(folder)).toEqual([]);
  });

  it("keeps the messages in memory where there is no redis-server, and says so.", async () => {
    const { status, stdout } = await run(small, { PATH: folder });
    expect(stdout).toMatch(/^Using the memory of this process, because .* no redis-server on the PATH/);
    expect(stdout).toMatch(/engine +memory\n/);
    expect(status).toBe(0);
  });

  it("prints with --json one object as the last line, with exactly the keys that were promised.", async () => {
    const { status, stdout } = await run([...small, "--json"]);
    const figures = JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "") as { latenessMs: object };
    const keys = "engine scheduled delivered retried cancelled lost duplicated early latenessMs seconds";
    expect(Object.keys(figures)).toEqual(keys.split(" "));
    expect(Object.keys(figures.latenessMs)).toEqual(["p50", "p99", "max"]);
    expect(figures).toMatchObject({ engine: "redis", scheduled: 300, lost: 0, duplicated: 0, early: 0 });
    expect(status).toBe(0);
  });

  it.each(["SIGINT", "SIGTERM"] as const)("ends with 130 on %s, and leaves no server and no file.", async (signal) => {
    const { status, stdout, stderr } = await interrupted(signal);
    expect(stderr).toMatch(/Interrupted; everything is cleaned up\.\n$/);
    expect(status).toBe(130);
    expect(await refuses(/private Redis at (redis:\S+),/.exec(stdout)?.[1] ?? "")).toBe(true);
    expect(await readdir(folder)).toEqual([]);
  });

  it("refuses wrong arguments with a sentence.", async () => {
    expect(await run(["--messages", "many"])).toEqual({
      status: 2,
      stdout: "",
      stderr: '--messages takes a whole number from 1 to 1000000, not "many". See npm run demo -- --help.\n',
    });
  });
});

describe("npm run demo, with REDIS_URL,", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedisServer();
  });
  afterAll(() => server.stop());

  it.each([
    ["ran to its end", () => run(small, { REDIS_URL: server.url })],
    ["was interrupted", () => interrupted("SIGINT", { REDIS_URL: server.url })],
  ])("uses that Redis, and when it %s leaves there what it found.", async (_, demo) => {
    await using redis = await rawRedis(server.url);
    await redis.command("SET", "somebody's", "key");
    const { stdout, status } = await demo();
    expect(stdout).toContain(`Using the Redis at ${server.url}, because REDIS_URL is set.`);
    expect([0, 130]).toContain(status);
    expect(await redis.text("KEYS", "*")).toEqual(["somebody's"]);
  });

  it("says with a sentence that nothing listens there, and does not show the password.", async () => {
    const listener = createServer().listen(0, "127.0.0.1");
    await once(listener, "listening");
    const address = listener.address();
    listener.close();
    const port = typeof address === "object" ? address?.port : undefined;
    const { status, stdout, stderr } = await run(small, { REDIS_URL: `redis://ada:secret@127.0.0.1:${port}` });
    expect(stdout).toBe("");
    expect(stderr).toMatch(new RegExp(`^The Redis at redis://127\\.0\\.0\\.1:${port} cannot be used: [^\\n]+\\n$`));
    expect(stderr).not.toContain("secret");
    expect(status).toBe(2);
  });

  it("gives up within seconds on something that listens and says nothing.", async () => {
    const silent = createServer(() => {}).listen(0, "127.0.0.1");
    await once(silent, "listening");
    const address = silent.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const { status, stderr } = await run(small, { REDIS_URL: `redis://127.0.0.1:${port}` });
    silent.close();
    expect(stderr).toMatch(/cannot be used: [^\n]+\n$/);
    expect(status).toBe(2);
  });

  it("says with one sentence, and one full stop, that the password is wrong.", async () => {
    const { status, stderr } = await run(small, { REDIS_URL: server.url.replace("//", "//ada:secret@") });
    expect(stderr).toMatch(
      /cannot be used: WRONGPASS [^\n]*[^.\n]\. Start it, correct REDIS_URL, or unset REDIS_URL\.\n$/,
    );
    expect(stderr).not.toContain("secret");
    expect(status).toBe(2);
  });

  it("says why it stopped when Redis goes away in the middle.", { timeout: 60_000 }, async () => {
    await using passing = await startRedisServer();
    const { demo, ended } = start(["--messages", "2000", "--seconds", "5"], { REDIS_URL: passing.url });
    demo.stderr.once("data", () => void passing.kill());
    const { status, stderr } = await ended;
    expect(stderr).toMatch(/\nThe demo stopped before its end: [^\n]*nothing listens there[^\n]*[^.\n]\.\n/);
    expect(stderr).not.toMatch(/\n +at /);
    expect(status).toBe(2);
  });

  it("refuses an address that is none with a sentence.", async () => {
    const { status, stderr } = await run(small, { REDIS_URL: "localhost" });
    expect(stderr).toMatch(/^REDIS_URL cannot be used\. [^\n]+\n$/);
    expect(status).toBe(2);
  });
});
