import { afterEach, describe, expect, it, vi } from "vitest";
import { type CommandArgument, CommandFailure, type Connection, type Connector, type Reply } from "../clients/port.js";
import { StallWatch } from "../../test/support/stall-watch.js";
import { PunctualError } from "../errors.js";
import { defineScript } from "../scripting/script.js";
import { Supervisor } from "./supervisor.js";

const script = defineScript("scripted", "return {}");
const unknown = () => new CommandFailure("unknown", "read ECONNRESET");
const notSent = () => new CommandFailure("not-sent", "the client is offline");
const refused = (message: string) => new CommandFailure("refused", message, { code: message.split(" ")[0] ?? "" });

/** Answers to the scripts in turn, over all connections; when they have run out, everything succeeds. */
type Answer = Reply | Error | "silence";
const serverTime = 1_700_000_000_000;
const success = [Buffer.from(String(serverTime))];

class ScriptedServer implements Connector {
  readonly target = "redis://scripted";
  readonly sent: string[][] = [];
  connections = 0;
  /** What connecting does, in turn; when they have run out, it succeeds. */
  readonly connecting: Error[] = [];
  readonly answers: Answer[];
  onDestroy: () => void = () => {};

  constructor(...answers: Answer[]) {
    this.answers = answers;
  }

  async connect(): Promise<Connection> {
    this.connections++;
    const failure = this.connecting.shift();
    if (failure !== undefined) throw failure;
    const silent = new Set<(failure: CommandFailure) => void>();
    return {
      send: async (command: readonly CommandArgument[]) => {
        if (command[0] === "TIME") return [Buffer.from(String(serverTime / 1000)), Buffer.from("0")];
        this.sent.push(command.map(String));
        const answer = command[0] === "EVALSHA" ? this.answers.shift() : undefined;
        if (answer instanceof Error) throw answer;
        if (answer === "silence") return await new Promise<Reply>((_, reject) => silent.add(reject));
        return answer ?? success;
      },
      subscribe: async () => {},
      unsubscribe: async () => {},
      onLost: () => {},
      destroy: () => {
        this.onDestroy();
        for (const reject of silent) reject(unknown());
      },
    };
  }
}

const supervisors: Supervisor[] = [];
const supervise = (connector: Connector, random = () => 0) => {
  const supervisor = new Supervisor({ connector, random });
  supervisors.push(supervisor);
  return supervisor;
};
afterEach(() => Promise.all(supervisors.splice(0).map((supervisor) => supervisor.close())));

const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (failure: unknown) => failure,
  );

describe("a call", () => {
  it("carries in front of its arguments the server time after which it must not run", async () => {
    const server = new ScriptedServer();
    await supervise(server).evaluate(script, ["k1", "k2"], ["a", Buffer.from("b")]);
    const [evalsha, sha1, keys, k1, k2, notAfter, ...args] = server.sent[0] ?? [];
    expect([evalsha, sha1, keys, k1, k2, ...args]).toEqual(["EVALSHA", script.sha1, "2", "k1", "k2", "a", "b"]);
    expect(Number(notAfter)).toBeGreaterThanOrEqual(serverTime + 2_000);
    expect(Number(notAfter)).toBeLessThan(serverTime + 2_500);
    expect(notAfter).toMatch(/^\d+$/);
  });

  it("must not run after its own time is over, if that is shorter", async () => {
    const server = new ScriptedServer();
    await supervise(server).evaluate(script, [], [], { timeout: 300 });
    expect(Number(server.sent[0]?.[3])).toBeLessThanOrEqual(serverTime + 800);
  });

  it("has no more than its own time to be sent, though it may be kept waiting after that", async () => {
    const server = new ScriptedServer();
    server.connecting.push(...Array.from({ length: 50 }, notSent));
    const supervisor = new Supervisor({ connector: server, random: () => 0, longestWait: 600_000 });
    supervisors.push(supervisor);
    expect(await failureOf(supervisor.evaluate(script, [], [], { timeout: 100 }))).toMatchObject({ code: "not-sent" });
  });

  it("that was not sent is repeated on another connection, and is certain", async () => {
    const server = new ScriptedServer(notSent());
    expect(await supervise(server).evaluate(script, [], [])).toEqual({ reply: success, uncertain: false });
    expect(server.connections).toBe(2);
  });

  it("stays uncertain once one attempt may have run", async () => {
    const server = new ScriptedServer(unknown(), notSent(), refused("LOADING Redis is loading"));
    expect(await supervise(server).evaluate(script, [], [])).toEqual({ reply: success, uncertain: true });
  });

  it("that comes too late is repeated with the time that the server has told", async () => {
    const server = new ScriptedServer(refused(`TOOLATE ${serverTime + 3_600_000}.5`));
    const supervisor = supervise(server);
    await supervisor.evaluate(script, [], []);
    expect(Number(server.sent[1]?.[3])).toBeGreaterThan(serverTime + 3_600_000);
    expect(server.connections).toBe(1);
  });

  it.each(["LOADING Redis is loading", "BUSY Redis is busy", "CLUSTERDOWN no", "TRYAGAIN later"])(
    "is repeated on the same connection after %s",
    async (message) => {
      const server = new ScriptedServer(refused(message), refused(message));
      expect(await supervise(server).evaluate(script, [], [])).toEqual({ reply: success, uncertain: false });
      expect(server.connections).toBe(1);
    },
  );

  it("that was only ever refused gives up with refused and the reply", async () => {
    const server = new ScriptedServer(...Array.from({ length: 50 }, () => refused("BUSY Redis is busy")));
    expect(await failureOf(supervise(server).evaluate(script, [], [], { timeout: 120 }))).toMatchObject({
      code: "refused",
      message: expect.stringContaining("BUSY Redis is busy"),
      details: { reply: "BUSY" },
    });
  });

  it.each(["OOM command not allowed", "NOPERM no right", "STALE"])(
    "that may have run before does not claim that nothing was changed when it then fails for %s",
    async (message) => {
      const server = new ScriptedServer(unknown(), refused(message));
      const failure = await failureOf(supervise(server).evaluate(script, [], []));
      // The reply that came last, and no error of ours that says the same once more.
      expect(failure).toMatchObject({
        code: "outcome-unknown",
        cause: { name: "CommandFailure", message },
        details: { reply: message.split(" ")[0] },
      });
    },
  );

  it("that waits to be repeated ends when the supervisor is closed", async () => {
    const server = new ScriptedServer(...Array.from({ length: 20 }, () => refused("LOADING Redis is loading")));
    const supervisor = supervise(server, () => 1);
    const call = supervisor.evaluate(script, [], []).catch((error: unknown) => error);
    const sent = () => server.sent.filter(([command]) => command === "EVALSHA").length;
    await vi.waitFor(() => expect(sent()).toBe(6), { timeout: 10_000, interval: 5 });
    // The next pause is 1.6 s.
    const began = performance.now();
    await supervisor.close();
    expect(await call).toMatchObject({ code: "closed" });
    expect(performance.now() - began).toBeLessThan(500);
  });

  it("loads the script and goes on when the server does not have it, three times at most in a row", async () => {
    const missing = () => refused("NOSCRIPT No matching script");
    const server = new ScriptedServer(missing(), missing());
    expect(await supervise(server).evaluate(script, [], [])).toEqual({ reply: success, uncertain: false });
    expect(server.sent.map(([command]) => command)).toEqual(["EVALSHA", "SCRIPT", "EVALSHA", "SCRIPT", "EVALSHA"]);
    expect(server.sent[1]).toEqual(["SCRIPT", "LOAD", script.source]);

    const endless = new ScriptedServer(...Array.from({ length: 100 }, missing));
    expect(await failureOf(supervise(endless).evaluate(script, [], [], { timeout: 200 }))).toMatchObject({
      code: "refused",
    });
    expect(endless.sent.length).toBeLessThan(40);
  });

  it("gives the connection up after 2 s of silence, not while replies come", { timeout: 20_000 }, async () => {
    const server = new ScriptedServer("silence");
    const supervisor = supervise(server);
    const destroyed = new Promise<number>((resolve) => (server.onDestroy = () => resolve(performance.now())));
    // This process may not get to run meanwhile.
    await using stall = new StallWatch(async () => {});
    const silent = supervisor.evaluate(script, [], []);
    let lastReplyAt = 0;
    for (let second = 0; second < 3; second++) {
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      await supervisor.evaluate(script, [], []);
      lastReplyAt = performance.now();
    }
    expect(server.connections).toBe(1);
    expect((await destroyed) - lastReplyAt).toBeGreaterThan(1_900);
    expect((await destroyed) - lastReplyAt).toBeLessThan(2_500 + 2 * stall.longest());
    expect(await silent).toMatchObject({ uncertain: true });
    expect(server.connections).toBe(2);
  });
});

describe("a connection that cannot be made", () => {
  it("is tried again with pauses that grow up to 1 s", async () => {
    const server = new ScriptedServer();
    server.connecting.push(...Array.from({ length: 4 }, () => new CommandFailure("not-sent", "ECONNREFUSED")));
    const startedAt = performance.now();
    await supervise(server, () => 1).evaluate(script, [], []);
    // 40 + 80 + 160 + 320 ms
    expect(performance.now() - startedAt).toBeGreaterThan(590);
    expect(performance.now() - startedAt).toBeLessThan(1_500);
    expect(server.connections).toBe(5);
  });

  it("tells once why, and again when the reason changes", async () => {
    const server = new ScriptedServer();
    server.connecting.push(
      new CommandFailure("not-sent", "ECONNREFUSED"),
      new CommandFailure("not-sent", "ECONNREFUSED"),
      refused("WRONGPASS invalid username-password pair"),
    );
    const supervisor = supervise(server);
    const states: unknown[] = [];
    const ready = new Promise<void>((resolve) =>
      supervisor.onState((state, cause) => {
        states.push(cause === undefined ? state : [state, cause.code]);
        if (state === "ready") resolve();
      }),
    );
    expect(await failureOf(supervisor.evaluate(script, [], []))).toMatchObject({ code: "misconfigured" });
    await ready;
    expect(states).toEqual([["recovering", "not-sent"], ["recovering", "misconfigured"], "ready"]);
    expect(await supervisor.evaluate(script, [], [])).toMatchObject({ uncertain: false });
  });

  it("fails all calls at once when the library is missing", async () => {
    const server = new ScriptedServer();
    server.connecting.push(new PunctualError("misconfigured", "run `npm install @redis/client`"));
    const supervisor = supervise(server);
    expect(await failureOf(supervisor.evaluate(script, [], []))).toMatchObject({ message: /npm install/ });
    expect(await failureOf(supervisor.evaluate(script, [], []))).toMatchObject({ message: /npm install/ });
  });

  it("is told with its address once, with the error of the system as its cause, and with the frame of the caller", async () => {
    const refusal = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
    const server = new ScriptedServer();
    const failing = () => new CommandFailure("not-sent", "nothing listens there. (ECONNREFUSED)", { cause: refusal });
    server.connecting.push(...Array.from({ length: 20 }, failing));
    async function theCaller() {
      await supervise(server).evaluate(script, [], [], { timeout: 100 });
    }
    const failure = await failureOf(theCaller());
    expect(failure).toMatchObject({
      code: "not-sent",
      message:
        "The time for the call is over. No connection to redis://scripted: nothing listens there. (ECONNREFUSED)",
      stack: expect.stringContaining("theCaller"),
    });
    expect((failure as Error).cause).toBe(refusal);
  });

  it("because of a wrong password is told to each call with the frame of its caller", async () => {
    const server = new ScriptedServer();
    server.connecting.push(refused("WRONGPASS invalid username-password pair"));
    const supervisor = supervise(server);
    async function theCaller() {
      await supervisor.evaluate(script, [], []);
    }
    const failures = await Promise.all([failureOf(theCaller()), failureOf(theCaller())]);
    for (const failure of failures) {
      expect(failure).toMatchObject({
        code: "misconfigured",
        message:
          "Cannot use redis://scripted: Redis does not accept the user or the password (WRONGPASS invalid username-password pair)",
        cause: { name: "CommandFailure" },
        stack: expect.stringContaining("theCaller"),
      });
    }
  });

  it("is not even tried before the first call", async () => {
    const server = new ScriptedServer();
    await supervise(server).close();
    expect(server.connections).toBe(0);
  });
});

describe("those who listen", () => {
  it("stop hearing of the state one by one", async () => {
    const supervisor = supervise(new ScriptedServer());
    const [first, second] = [vi.fn<() => void>(), vi.fn<() => void>()];
    supervisor.onState(first)();
    supervisor.onState(second);
    await supervisor.evaluate(script, [], []);
    expect([first.mock.calls.length, second.mock.calls.length]).toEqual([0, 1]);
  });
});
