import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@redis/client";
import { Redis } from "ioredis";
import { Redis as Redis5 } from "ioredis-5";
import { createClient as createClient5 } from "redis-client-5";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rawRedis } from "../../test/support/raw-redis.js";
import { type RedisServer, startRedisServer } from "../testing/redis-server.js";
import { type RedisOptions, readRedisOptions } from "./redis-options.js";

const username = "ann@example";
const password = "it's @ s%cret:/?#";
let folder: string;
let ca: Buffer;
let server: RedisServer;
let tlsPort: number;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "punctual-tls-"));
  // A certificate that is its own authority, as people make them for a test.
  const openssl = (...args: string[]) => execFileSync("openssl", args, { cwd: folder, stdio: "pipe" });
  openssl(
    ..."req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost".split(" "),
    "-addext",
    "subjectAltName=DNS:localhost,IP:127.0.0.1",
  );
  ca = readFileSync(join(folder, "cert.pem"));
  tlsPort = await freePort();
  const tls = {
    "tls-port": tlsPort,
    "tls-cert-file": "cert.pem",
    "tls-key-file": "key.pem",
    "tls-ca-cert-file": "cert.pem",
  };
  const args = Object.entries(tls).flatMap(([name, value]) => [
    `--${name}`,
    typeof value === "string" ? join(folder, value) : String(value),
  ]);
  server = await startRedisServer({ args: [...args, "--tls-auth-clients", "no"] });
  await using raw = await rawRedis(`unix://${server.socketPath}`);
  await raw.command("ACL", "SETUSER", username, "on", `>${password}`, "~punctual:*", "&*", "+@all");
  await raw.command("ACL", "SETUSER", "default", "resetpass", ">of the default user");
});
afterAll(async () => {
  await server?.stop();
  rmSync(folder, { recursive: true });
});

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** Who the server takes us for, and in which database; what it must not say is undefined. */
async function whoami(options: RedisOptions) {
  const connection = await readRedisOptions(options).connector.connect(2_000);
  try {
    await connection.subscribe("c", () => {});
    const info = String(await connection.send(["CLIENT", "INFO"]));
    return { user: / user=(\S*)/.exec(info)?.[1], db: / db=(\d+)/.exec(info)?.[1] };
  } finally {
    connection.destroy();
  }
}

const login = `${encodeURIComponent(username)}:${encodeURIComponent(password)}`;

describe.each(["node-redis", "ioredis"] as const)("with %s and a URL", (library) => {
  it.each<[string, () => RedisOptions, user: string, db: string]>([
    [
      "TLS, a user, a password and a database",
      () => ({ url: `rediss://${login}@127.0.0.1:${tlsPort}/3`, tls: { ca } }),
      username,
      "3",
    ],
    [
      "TLS, by the name in the certificate",
      () => ({ url: `rediss://${login}@localhost:${tlsPort}`, tls: { ca } }),
      username,
      "0",
    ],
    [
      "TLS, and the login beside the URL",
      () => ({ url: `rediss://127.0.0.1:${tlsPort}`, tls: { ca }, username, password }),
      username,
      "0",
    ],
    [
      "TCP, a user, a password and a database",
      () => ({ url: `${server.url.replace("//", `//${login}@`)}?db=2` }),
      username,
      "2",
    ],
    ["a password alone", () => ({ url: server.url, password: "of the default user" }), "default", "0"],
    [
      "a unix socket, a user, a password and a database",
      () => ({ url: `unix://${login}@${server.socketPath}?db=5` }),
      username,
      "5",
    ],
  ])("an engine logs in over %s", async (_, options, user, db) => {
    expect(await whoami({ ...options(), library })).toEqual({ user, db });
  });

  it("a certificate that nobody trusts is told with what to do", async () => {
    await expect(whoami({ url: `rediss://${login}@127.0.0.1:${tlsPort}`, library })).rejects.toMatchObject({
      name: "CommandFailure",
      outcome: "not-sent",
      message: expect.stringContaining("Its authority can be given as tls: { ca } (DEPTH_ZERO_SELF_SIGNED_CERT)"),
    });
  });

  it("a certificate for another name is told", async () => {
    const tls = { ca, servername: "cache.example" };
    await expect(whoami({ url: `rediss://${login}@127.0.0.1:${tlsPort}`, tls, library })).rejects.toMatchObject({
      outcome: "not-sent",
      message: expect.stringContaining("cache.example"),
    });
  });

  it.each([
    ["a wrong password", () => ({ username, password: "wrong" }), "WRONGPASS"],
    ["a user that there is not", () => ({ username: "nobody", password }), "WRONGPASS"],
    ["no login", () => ({}), "NOAUTH"],
  ])("%s is refused with the code of the server", async (_, wrong, code) => {
    const url = `rediss://127.0.0.1:${tlsPort}`;
    await expect(whoami({ url, tls: { ca }, library, ...wrong() })).rejects.toMatchObject({ outcome: "refused", code });
  });
});

const ofNodeRedis = {
  overTls: () => ({ url: `rediss://${login}@127.0.0.1:${tlsPort}/3`, socket: { tls: true, ca } as const }),
  overSocket: () => ({
    socket: { path: server.socketPath, tls: false } as const,
    username,
    password,
    database: 5,
  }),
};
const ofIORedis = {
  overTls: () => ({ host: "127.0.0.1", port: tlsPort, username, password, db: 3, tls: { ca }, lazyConnect: true }),
  overSocket: () => ({ path: server.socketPath, username, password, db: 5, lazyConnect: true }),
};

/** Clients over TLS, and over a unix socket. */
const clients: [kind: string, overTls: () => RedisOptions["client"], overSocket: () => RedisOptions["client"]][] = [
  ["node-redis 6", () => createClient(ofNodeRedis.overTls()), () => createClient(ofNodeRedis.overSocket())],
  ["node-redis 5", () => createClient5(ofNodeRedis.overTls()), () => createClient5(ofNodeRedis.overSocket())],
  ["ioredis 6", () => new Redis(ofIORedis.overTls()), () => new Redis(ofIORedis.overSocket())],
  ["ioredis 5", () => new Redis5(ofIORedis.overTls()), () => new Redis5(ofIORedis.overSocket())],
];

describe.each(clients)("with a client of %s", (_, overTls, overSocket) => {
  it("an engine logs in over TLS as it does", async () => {
    expect(await whoami({ client: overTls() })).toEqual({ user: username, db: "3" });
  });

  it("an engine logs in over a unix socket as it does", async () => {
    expect(await whoami({ client: overSocket() })).toEqual({ user: username, db: "5" });
  });
});
