import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chown, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createConnection, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** A private RabbitMQ, with names, ports and a folder of its own, all on 127.0.0.1. It never outlives this process. */
export interface RabbitmqServer {
  /** Such as `amqp://127.0.0.1:40123`. */
  readonly url: string;
  readonly port: number;
  /** Ends it in good order and starts it again on the same addresses and folder. */
  restart(): Promise<void>;
  /** Ends it and removes its folder. Safe to call twice. */
  stop(): Promise<void>;
}

/** How long a broker may take to start, and to end, ms: 15 s on a busy machine. */
const patience = 60_000;

/** Where Debian has the program itself; the one on the PATH is a wrapper that only root and one user may run. */
const debian = "/usr/lib/rabbitmq/bin/rabbitmq-server";

/** Starts a private RabbitMQ and waits until it takes connections. Fails with a sentence when there is none. */
export async function startRabbitmqServer(): Promise<RabbitmqServer> {
  const owner = ownerOf();
  const folder = await mkdtemp(join(tmpdir(), "punctual-rabbitmq-"));
  if (owner !== undefined) await chown(folder, owner.uid, owner.gid);
  let running: Running | undefined;
  const stop = async () => {
    if (running !== undefined) await end(running);
    running = undefined;
    await rm(folder, { recursive: true, force: true });
  };
  let setting = await settingIn(folder, owner);
  for (let attempt = 1; running === undefined; attempt++) {
    try {
      running = await launch(setting);
    } catch (error) {
      // Another process may take a port between our look and the start.
      if (attempt < 3 && error instanceof Error && error.message !== missing) setting = await settingIn(folder, owner);
      else {
        await stop();
        throw error;
      }
    }
  }
  const { port } = setting;
  return {
    url: `amqp://127.0.0.1:${port}`,
    port,
    async restart() {
      if (running !== undefined) await end(running);
      running = await launch(setting);
    },
    stop,
  };
}

async function settingIn(folder: string, owner: Setting["owner"]): Promise<Setting> {
  const ports = new Set<number>();
  while (ports.size < 3) ports.add(await freePort());
  const [port = 0, epmdPort = 0, nodePort = 0] = ports;
  return { folder, owner, port, epmdPort, nodePort };
}

interface Setting {
  readonly folder: string;
  readonly owner: { readonly uid: number; readonly gid: number } | undefined;
  readonly port: number;
  readonly epmdPort: number;
  readonly nodePort: number;
}

/** The broker, the daemon by which Erlang finds nodes, and the shell that ends both when this process is gone. */
interface Running {
  readonly server: ChildProcess;
  readonly epmd: ChildProcess;
  readonly guard: ChildProcess;
}

/** Root runs it as the user that the package made for it. */
function ownerOf(): Setting["owner"] {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string) => Number(execFileSync("id", [flag, "rabbitmq"], { encoding: "utf8", stdio: "pipe" }));
  try {
    return { uid: id("-u"), gid: id("-g") };
  } catch (cause) {
    throw new Error(missing, { cause });
  }
}

const missing =
  "There is no rabbitmq-server for this test: install it, for example with `sudo apt-get install rabbitmq-server` or `brew install rabbitmq` (`npm run setup` does so as root on Debian and Ubuntu).";

async function launch(setting: Setting): Promise<Running> {
  const { folder, owner, port, epmdPort, nodePort } = setting;
  const config = join(folder, "rabbitmq.conf");
  const plugins = join(folder, "enabled_plugins");
  const advanced = join(folder, "advanced.config");
  await writeFile(config, `listeners.tcp.1 = 127.0.0.1:${port}\nloopback_users.guest = true\n`);
  await writeFile(plugins, "[].\n");
  // As the page on the engine tells everybody to set it.
  await writeFile(advanced, "[{rabbit, [{dead_letter_worker_publisher_confirm_timeout, 2000}]}].\n");
  const env = {
    PATH: process.env["PATH"],
    LANG: "C.UTF-8",
    // Erlang keeps its cookie there.
    HOME: folder,
    ERL_EPMD_ADDRESS: "127.0.0.1",
    ERL_EPMD_PORT: String(epmdPort),
    ERL_CRASH_DUMP: "/dev/null",
    RABBITMQ_NODENAME: `punctual-${port}@localhost`,
    RABBITMQ_NODE_IP_ADDRESS: "127.0.0.1",
    RABBITMQ_NODE_PORT: String(port),
    RABBITMQ_DIST_PORT: String(nodePort),
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: "-kernel inet_dist_use_interface {127,0,0,1}",
    RABBITMQ_MNESIA_BASE: join(folder, "mnesia"),
    RABBITMQ_LOG_BASE: join(folder, "log"),
    RABBITMQ_PID_FILE: join(folder, "pid"),
    RABBITMQ_CONFIG_FILE: config,
    RABBITMQ_ADVANCED_CONFIG_FILE: advanced,
    RABBITMQ_CONF_ENV_FILE: join(folder, "none"),
    RABBITMQ_ENABLED_PLUGINS_FILE: plugins,
    // The start script then becomes the broker itself, so that its process is the one that is ended.
    RUNNING_UNDER_SYSTEMD: "true",
  };
  const how = { env, cwd: folder, stdio: "ignore", detached: true, ...owner } as const;
  const giveUpAt = performance.now() + patience;
  const epmd = spawn("epmd", ["-address", "127.0.0.1", "-port", String(epmdPort)], how);
  await started(epmd);
  // A broker that finds none starts one, which would outlive it.
  while (epmd.exitCode === null && performance.now() < giveUpAt && !(await accepts(epmdPort))) await sleep(20);
  const server = spawn(existsSync(debian) ? debian : "rabbitmq-server", [], how);
  await started(server);
  const running = { server, epmd, guard: guardOf([server, epmd], folder) };
  while (!(await answers(port))) {
    if (server.exitCode === null && performance.now() < giveUpAt) await sleep(100);
    else {
      await end(running);
      throw new Error(`rabbitmq-server does not answer. Its log ends:\n${await lastLines(join(folder, "log"))}`);
    }
  }
  return running;
}

/**
 * A shell that waits for the end of this process, which alone holds the other end of a pipe, and then ends what it started;
 * also when this process is killed.
 */
function guardOf(processes: readonly ChildProcess[], folder: string): ChildProcess {
  const groups = processes.map(({ pid }) => `-${pid}`);
  const script = 'read -r _; folder=$1; shift; kill -9 -- "$@"; sleep 1; rm -rf -- "$folder"';
  const guard = spawn("/bin/sh", ["-c", script, "sh", folder, ...groups], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  for (const child of [...processes, guard]) child.unref();
  return guard;
}

async function end({ server, epmd, guard }: Running): Promise<void> {
  for (const child of [server, epmd]) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.ref();
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), patience);
    await exited;
    clearTimeout(timer);
  }
  guard.kill("SIGKILL");
}

async function started(child: ChildProcess): Promise<void> {
  try {
    await once(child, "spawn");
  } catch (cause) {
    throw new Error(missing, { cause });
  }
}

/** Whether something listens there. */
function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ port, host: "127.0.0.1" });
    const settle = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once("connect", () => settle(true));
    socket.once("error", () => settle(false));
  });
}

/** Whether the broker begins the handshake of AMQP 0-9-1. */
function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ port, host: "127.0.0.1" });
    const settle = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(1_000, () => settle(false));
    socket.once("connect", () => socket.write(Buffer.from("AMQP\0\0\x09\x01", "latin1")));
    socket.once("data", (bytes) => settle(bytes[0] === 1));
    socket.once("close", () => settle(false));
    socket.once("error", () => settle(false));
  });
}

async function lastLines(folder: string): Promise<string> {
  const names = await readdir(folder).catch(() => []);
  const logs = await Promise.all(names.map((name) => readFile(join(folder, name), "utf8").catch(() => "")));
  return logs.join("\n").trimEnd().split("\n").slice(-10).join("\n");
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
