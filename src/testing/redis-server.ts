import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, rmSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createConnection, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { PunctualError } from "../errors.js";

/** How to start a private Redis. */
export interface RedisServerOptions {
  /** The program to start. Default `redis-server`, looked up on the PATH. */
  readonly binary?: string | undefined;
  /** More arguments for it, such as `["--maxmemory", "50mb"]`. Default none. */
  readonly args?: readonly string[] | undefined;
  /**
   * Lines of a configuration file, which is written into its folder and may be rewritten by the server. For what cannot be said
   * in arguments, as what a Sentinel watches. Default none.
   */
  readonly config?: string | undefined;
  /** Whether it writes an append-only file, synced with each command, so that a restart finds everything. Default false. */
  readonly aof?: boolean | undefined;
}

/**
 * A private Redis for tests: on a unix socket and on a free port of 127.0.0.1, with an empty folder of its own that is
 * removed at the end. It does not keep this process alive and never outlives it: see `startRedisServer`.
 */
export interface RedisServer extends AsyncDisposable {
  /** Its URL over TCP, such as `redis://127.0.0.1:40123`. */
  readonly url: string;
  /** The path of its unix socket; `unix://` and this is a URL, too. */
  readonly socketPath: string;
  readonly port: number;
  /** Of the process that runs now; another after `restart`. */
  readonly pid: number;
  /** Where it keeps its files. */
  readonly folder: string;
  /** Ends it in good order and removes its folder. Safe to call twice. */
  stop(): Promise<void>;
  /** Ends it at once with SIGKILL, as a crash would. Its folder stays for `restart`. */
  kill(): Promise<void>;
  /** Freezes it with SIGSTOP: connections stay open, nothing is answered. */
  pause(): void;
  /** Ends a pause. */
  continue(): void;
  /** Starts it again on the same addresses and folder, after ending it in good order if it runs. */
  restart(): Promise<void>;
}

/** How long a server may take to answer its first PING, and to end, ms. */
const patience = 10_000;

/** Servers that run now; when this process exits they are ended. */
const running = new Set<Process>();
let exitHooked = false;

/** One run of the server program. */
interface Process {
  readonly server: ChildProcess;
  readonly guard: ChildProcess;
  readonly folder: string;
  readonly pid: number;
  readonly exited: Promise<void>;
}

/**
 * Starts a private Redis and waits until it answers. Needs `redis-server` on the PATH; fails with `misconfigured` when there
 * is none or it does not start.
 *
 * The server ends with this process: on a normal exit through a hook; when this process is killed, even by SIGKILL, through
 * a small shell beside it that reads from a pipe which only this process holds open, so the end of the pipe is the end of
 * this process. Both run in sessions of their own, so Ctrl-C reaches only this process and it can still clean up.
 */
export async function startRedisServer(options: RedisServerOptions = {}): Promise<RedisServer> {
  const folder = await mkdtemp(join(tmpdir(), "punctual-redis-"));
  try {
    for (let attempt = 1; ; attempt++) {
      const port = await freePort();
      try {
        return new PrivateServer(options, folder, port, await launch(options, folder, port));
      } catch (error) {
        // Another process may take the port between our look and the start.
        const portTaken = error instanceof PunctualError && /address already in use/i.test(error.message);
        if (!portTaken || attempt === 3) throw error;
      }
    }
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

class PrivateServer implements RedisServer {
  readonly url: string;
  readonly socketPath: string;
  readonly port: number;
  readonly folder: string;
  readonly #options: RedisServerOptions;
  #process: Process;
  #stopped = false;

  constructor(options: RedisServerOptions, folder: string, port: number, process: Process) {
    this.url = `redis://127.0.0.1:${port}`;
    this.socketPath = socketPathIn(folder);
    this.port = port;
    this.folder = folder;
    this.#options = options;
    this.#process = process;
  }

  get pid(): number {
    return this.#process.pid;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await end(this.#process);
    await rm(this.folder, { recursive: true, force: true });
  }

  async kill(): Promise<void> {
    const { server, exited } = this.#process;
    server.ref();
    server.kill("SIGKILL");
    await exited;
  }

  pause(): void {
    this.#process.server.kill("SIGSTOP");
  }

  continue(): void {
    this.#process.server.kill("SIGCONT");
  }

  async restart(): Promise<void> {
    if (this.#stopped)
      throw new PunctualError("closed", "This Redis was stopped and its folder is gone; start another one.");
    await end(this.#process);
    this.#process = await launch(this.#options, this.folder, this.port);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

const socketPathIn = (folder: string) => join(folder, "redis.sock");

async function launch(options: RedisServerOptions, folder: string, port: number): Promise<Process> {
  const binary = options.binary ?? "redis-server";
  const logFile = join(folder, "redis.log");
  const configFile = join(folder, "redis.conf");
  // What the server has made of it stays for a restart.
  if (options.config !== undefined && !existsSync(configFile)) await writeFile(configFile, options.config);
  const server = spawn(
    binary,
    [
      ...(options.config === undefined ? [] : [configFile]),
      "--port",
      String(port),
      "--bind",
      "127.0.0.1",
      "--unixsocket",
      socketPathIn(folder),
      "--unixsocketperm",
      "700",
      "--dir",
      folder,
      "--logfile",
      logFile,
      "--daemonize",
      "no",
      "--save",
      "",
      ...(options.aof ? ["--appendonly", "yes", "--appendfsync", "always"] : ["--appendonly", "no"]),
      ...(options.args ?? []),
    ],
    { stdio: "ignore", detached: true },
  );
  const exited = new Promise<void>((resolve) => server.once("exit", () => resolve()));
  try {
    await once(server, "spawn");
  } catch (cause) {
    throw new PunctualError(
      "misconfigured",
      `Could not start ${binary}. Install Redis 6.2 or newer (apt-get install redis-server, brew install redis) or say with \`binary\` where it is.`,
      { cause },
    );
  }
  const { pid } = server;
  if (pid === undefined) throw new PunctualError("misconfigured", `${binary} started without a process id.`);
  const process = { server, guard: guardOf(pid, folder), folder, pid, exited };
  register(process);

  let alive = true;
  void exited.then(() => (alive = false));
  const giveUpAt = performance.now() + patience;
  while (!(await answers(socketPathIn(folder)))) {
    if (alive && performance.now() < giveUpAt) await sleep(5);
    else {
      await end(process);
      const log = await readFile(logFile, "utf8").catch(() => "");
      const lastLines = log.trimEnd().split("\n").slice(-5).join("\n");
      throw new PunctualError(
        "misconfigured",
        `${binary} ${alive ? "does not answer" : "ended at once"}. Its log ends:\n${lastLines}`,
      );
    }
  }
  return process;
}

/** A shell that waits for the end of this process and then kills the server and removes its folder. */
function guardOf(pid: number, folder: string): ChildProcess {
  const guard = spawn("/bin/sh", ["-c", 'read -r _; kill -9 "$1" && rm -rf -- "$2"', "sh", String(pid), folder], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  // Without a shell only the exit hook is left.
  guard.on("error", () => {});
  guard.unref();
  return guard;
}

function register(process: Process): void {
  process.server.unref();
  running.add(process);
  void process.exited.then(() => {
    running.delete(process);
    process.guard.kill("SIGKILL");
  });
  if (exitHooked) return;
  exitHooked = true;
  globalThis.process.once("exit", () => {
    for (const { server, guard, folder } of running) {
      guard.kill("SIGKILL");
      server.kill("SIGKILL");
      rmSync(folder, { recursive: true, force: true });
    }
  });
}

async function end({ server, exited }: Process): Promise<void> {
  // The caller waits for the exit; a process that is not referenced would let the event loop run dry meanwhile.
  server.ref();
  server.kill("SIGTERM");
  // A server that is paused takes its SIGTERM only when it runs again.
  server.kill("SIGCONT");
  const timer = setTimeout(() => server.kill("SIGKILL"), patience);
  await exited;
  clearTimeout(timer);
}

/** Whether the server takes commands. A demand for a password is an answer; loading its files is none yet. */
function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(path);
    const settle = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(1_000, () => settle(false));
    socket.once("connect", () => socket.write("PING\r\n"));
    socket.once("data", (reply) => settle(/^(\+PONG|-NOAUTH)/.test(reply.toString("latin1"))));
    socket.once("close", () => settle(false));
    socket.once("error", () => settle(false));
  });
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new TypeError("a TCP server without a port");
  server.close();
  await once(server, "close");
  return address.port;
}
