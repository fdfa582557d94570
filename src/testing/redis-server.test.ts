import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createConnection } from "node:net";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { bundle } from "../../test/support/bundle.js";
import { rawRedis } from "../../test/support/raw-redis.js";
import { PunctualError } from "../errors.js";
import { type RedisServer, type RedisServerOptions, startRedisServer } from "./redis-server.js";

const started: RedisServer[] = [];
const start = async (options?: RedisServerOptions) => {
  const server = await startRedisServer(options);
  started.push(server);
  return server;
};
afterEach(() => Promise.all(started.splice(0).map((server) => server.stop())));

const ask = async (server: RedisServer, ...command: string[]) => {
  await using redis = await rawRedis(server.url);
  return await redis.text(...command);
};

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

describe("a private Redis", () => {
  it("answers on its port and on its unix socket", async () => {
    const server = await start();
    for (const url of [server.url, `unix://${server.socketPath}`]) {
      await using redis = await rawRedis(url);
      expect(await redis.text("PING")).toBe("PONG");
    }
  });

  it("keeps no snapshots, listens on no other address, and lives in a folder of its own", async () => {
    const server = await start();
    expect(await ask(server, "CONFIG", "GET", "save")).toEqual(["save", ""]);
    expect(await ask(server, "CONFIG", "GET", "bind")).toEqual(["bind", "127.0.0.1"]);
    expect(await ask(server, "CONFIG", "GET", "dir")).toEqual(["dir", server.folder]);
  });

  it("is gone with its folder after stop, which is safe to call twice and during a pause", async () => {
    const server = await start();
    server.pause();
    await Promise.all([server.stop(), server.stop()]);
    expect(isAlive(server.pid)).toBe(false);
    expect(existsSync(server.folder)).toBe(false);
    await expect(server.restart()).rejects.toMatchObject({ code: "closed" });
  });

  it("starts empty again on the same addresses after a kill", async () => {
    const server = await start();
    const { url, pid } = server;
    await ask(server, "SET", "a", "1");
    await server.kill();
    expect(isAlive(pid)).toBe(false);
    await server.restart();
    expect(server.url).toBe(url);
    expect(server.pid).not.toBe(pid);
    expect(await ask(server, "GET", "a")).toBeNull();
  });

  it("keeps every write over a kill with aof", async () => {
    const server = await start({ aof: true });
    await ask(server, "SET", "a", "1");
    await server.kill();
    await server.restart();
    expect(await ask(server, "GET", "a")).toBe("1");
  });

  it("reads its configuration from a file of its own, and keeps what it wrote there over a restart", async () => {
    const server = await start({ config: "maxmemory 50mb\n" });
    expect(await ask(server, "CONFIG", "GET", "maxmemory")).toEqual(["maxmemory", String(50 * 2 ** 20)]);
    await ask(server, "CONFIG", "SET", "maxmemory", "60mb");
    await ask(server, "CONFIG", "REWRITE");
    await server.restart();
    expect(await ask(server, "CONFIG", "GET", "maxmemory")).toEqual(["maxmemory", String(60 * 2 ** 20)]);
  });

  it("answers nothing while it is paused, and everything after that", async () => {
    const server = await start();
    const socket = createConnection(server.port, "127.0.0.1");
    await once(socket, "connect");
    server.pause();
    const replies: string[] = [];
    socket.on("data", (reply) => replies.push(String(reply)));
    socket.write("PING\r\n");
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(replies).toEqual([]);
    server.continue();
    await expect.poll(() => replies).toEqual(["+PONG\r\n"]);
    socket.destroy();
  });

  it("passes arguments on", async () => {
    const server = await start({ args: ["--maxmemory", "50mb"] });
    expect(await ask(server, "CONFIG", "GET", "maxmemory")).toEqual(["maxmemory", String(50 * 1024 * 1024)]);
  });

  it("says what to install when there is no redis-server", async () => {
    const failure = startRedisServer({ binary: "no-such-redis-server" });
    await expect(failure).rejects.toBeInstanceOf(PunctualError);
    await expect(failure).rejects.toMatchObject({ code: "misconfigured", message: /Install Redis/ });
  });

  it("shows the end of the log when the server does not start", async () => {
    await expect(startRedisServer({ args: ["--maxclients", "-1"] })).rejects.toMatchObject({ code: "misconfigured" });
  });

  describe("started by another process", () => {
    let program: Awaited<ReturnType<typeof bundle>>;
    beforeAll(async () => {
      program = await bundle(fileURLToPath(new URL("../../test/support/redis-owner.ts", import.meta.url)));
    });
    afterAll(() => program[Symbol.asyncDispose]());

    const ownedServer = async () => {
      const owner = fork(program.path, { stdio: ["ignore", "ignore", "inherit", "ipc"] });
      const [told]: unknown[] = await once(owner, "message");
      const [pid, folder] = String(told).split(" ");
      return { owner, pid: Number(pid), folder: folder ?? "" };
    };

    it.each([["SIGKILL"], ["SIGTERM"], ["exit"]] as const)(
      "ends with the process that started it, by %s",
      async (way) => {
        const { owner, pid, folder } = await ownedServer();
        expect([isAlive(pid), existsSync(folder)]).toEqual([true, true]);
        if (way === "exit") owner.send("exit");
        else owner.kill(way);
        await vi.waitFor(() => expect([isAlive(pid), existsSync(folder)]).toEqual([false, false]), 5_000);
      },
    );

    it("does not keep the process that started it alive", async () => {
      const { owner } = await ownedServer();
      const exited = once(owner, "exit");
      owner.disconnect();
      expect(await exited).toEqual([0, null]);
    });
  });
});
