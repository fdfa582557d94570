// Sees to it that the tests find a redis-server: the one on the PATH, else it is installed with the package manager of the
// system; a valkey-server, which is fetched where that can be done and required in CI only; a rabbitmq-server, which is installed
// on Debian; and on Linux a C compiler. Tests start private servers of their own, so none is left running as a service.
import { spawnSync } from "node:child_process";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { run } from "./command.mjs";
import { fetchValkey, findValkey } from "./valkey.mjs";

const has = (program, args = ["--version"]) => spawnSync(program, args, { stdio: "ignore" }).status === 0;
const hasRedis = () => has("redis-server");
/** Looked for and not asked: it would start. */
const hasRabbitmq = () =>
  (process.env.PATH ?? "").split(delimiter).some((path) => existsSync(join(path, "rabbitmq-server")));
const isLinuxRoot = () => process.platform === "linux" && process.getuid?.() === 0;
const isDebian = () => isLinuxRoot() && has("apt-get");
const isAlpine = () => isLinuxRoot() && has("apk");

/**
 * Debian's packages start their services when they are installed. The tests must not meet a server that they did not start,
 * so the policy file that Debian asks says no meanwhile.
 */
async function withoutServices(install) {
  const policy = "/usr/sbin/policy-rc.d";
  if (existsSync(policy)) return install();
  writeFileSync(policy, "#!/bin/sh\nexit 101\n", { mode: 0o755 });
  try {
    await install();
  } finally {
    rmSync(policy, { force: true });
  }
}

async function aptInstall(...names) {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const install = ["install", "--yes", "--no-install-recommends", ...names];
  await withoutServices(async () => {
    if ((await run("apt-get", install, { env })) === 0) return;
    // A fresh machine has no list of packages yet.
    await run("apt-get", ["update"], { env });
    await run("apt-get", install, { env });
  });
}

/** Ways to install Redis: when each applies, and its commands in order. */
const ways = [
  {
    applies: isDebian,
    install: () => aptInstall("redis-server"),
  },
  {
    applies: isAlpine,
    install: () => run("apk", ["add", "--no-cache", "redis"]),
  },
  { applies: () => process.platform === "darwin" && has("brew"), install: () => run("brew", ["install", "redis"]) },
];

if (!hasRedis()) {
  if (process.platform === "win32") {
    // REDIS_URL is of no use to them: they stop, restart and freeze servers of their own.
    console.error(
      "Redis does not run on Windows, and the tests start servers of their own: run them inside WSL (`wsl --install`). " +
        "The demo needs none: `npm run demo` uses the Redis of REDIS_URL, else the memory of the process.",
    );
  } else {
    const way = ways.find(({ applies }) => applies());
    if (way !== undefined) {
      console.error("No redis-server on the PATH; installing it.");
      await way.install();
    }
    if (!hasRedis()) {
      console.error(
        "The tests need redis-server 6.2 or newer on the PATH: install it, for example with `sudo apt-get install redis-server`, `brew install redis` or `apk add redis`.",
      );
    }
  }
  if (!hasRedis()) process.exitCode = 1;
}

if (hasRedis() && findValkey() === undefined && (await fetchValkey()) === undefined) {
  if (process.env.CI) {
    console.error("In CI the tests run on Valkey, too: put valkey-server 8 on the PATH.");
    process.exitCode = 1;
  } else console.error("The tests on Valkey are left out.");
}

// Only the tests of one engine need it, and they say so where there is none.
if (!hasRabbitmq() && isDebian()) {
  console.error("No rabbitmq-server on the PATH; installing it.");
  await aptInstall("rabbitmq-server");
  // The package has its service start with the machine.
  if (has("systemctl")) await run("systemctl", ["disable", "rabbitmq-server"]);
}
if (!hasRabbitmq() && process.exitCode !== 1) {
  console.error(
    "There is no rabbitmq-server on the PATH: the tests of the rabbitmq engine will fail. Install it, for example with `sudo apt-get install rabbitmq-server` or `brew install rabbitmq`.",
  );
}

// Only the tests that move the clock of Redis need it, and only on Linux they can.
const needsCompiler = () => process.platform === "linux" && !has("cc");
if (needsCompiler() && (isDebian() || isAlpine())) {
  console.error("No C compiler (cc) on the PATH; installing gcc.");
  if (isDebian()) await aptInstall("gcc", "libc6-dev");
  else await run("apk", ["add", "--no-cache", "gcc", "musl-dev"]);
}
if (needsCompiler() && process.exitCode !== 1) {
  console.error(
    "There is no C compiler (cc) on the PATH: the tests that move the clock of Redis will fail. Install it, for example with `sudo apt-get install gcc libc6-dev` or `apk add gcc musl-dev`.",
  );
}
