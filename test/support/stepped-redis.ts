import { execFile } from "node:child_process";
import { openSync, writeSync, closeSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type RedisServer, startRedisServer } from "../../src/testing/redis-server.js";

const source = fileURLToPath(new URL("stepped-clock.c", import.meta.url));

/** A library that shifts the clock of a program; made by the C compiler of this machine, for Linux. */
export async function clockLibrary(compiler = "cc"): Promise<{ path: string } & AsyncDisposable> {
  const folder = await mkdtemp(join(tmpdir(), "punctual-clock-"));
  const path = join(folder, "stepped-clock.so");
  const removed = () => rm(folder, { recursive: true, force: true });
  try {
    await promisify(execFile)(compiler, ["-shared", "-fPIC", "-o", path, source]);
  } catch (cause) {
    await removed();
    throw new Error(
      `${compiler} cannot make the library that moves the clock of Redis. Install a C compiler with its headers, for example with \`sudo apt-get install gcc libc6-dev\` or \`apk add gcc musl-dev\`.`,
      { cause },
    );
  }
  return { path, [Symbol.asyncDispose]: removed };
}

/** A private Redis whose clock a test sets while it runs. */
export class SteppedRedis implements AsyncDisposable {
  readonly server: RedisServer;
  readonly #folder: string;
  readonly #file: number;
  /** How far its clock was ahead of that of this machine, ms, and since when by that one. */
  readonly #steps: { readonly ahead: number; readonly since: number }[] = [];

  private constructor(server: RedisServer, folder: string, file: number) {
    this.server = server;
    this.#folder = folder;
    this.#file = file;
  }

  /** @param ahead How far its clock is ahead at the beginning, ms. */
  static async start(library: string, ahead = 0): Promise<SteppedRedis> {
    const folder = await mkdtemp(join(tmpdir(), "punctual-stepped-"));
    const offset = join(folder, "offset");
    const binary = join(folder, "redis-server");
    await writeFile(offset, secondsOf(ahead));
    await writeFile(
      binary,
      `#!/bin/sh\nCLOCK_OFFSET_FILE='${offset}' LD_PRELOAD='${library}' exec redis-server "$@"\n`,
      { mode: 0o755 },
    );
    const server = await startRedisServer({ binary });
    const stepped = new SteppedRedis(server, folder, openSync(offset, "r+"));
    stepped.#steps.push({ ahead, since: 0 });
    return stepped;
  }

  /** How far its clock is ahead of that of this machine, ms. */
  get ahead(): number {
    return this.#steps.at(-1)?.ahead ?? 0;
  }

  /** Sets its clock so far ahead of that of this machine, in whole seconds. */
  stepTo(ahead: number): void {
    writeSync(this.#file, secondsOf(ahead), 0, 8, 0);
    this.#steps.push({ ahead, since: Date.now() });
  }

  /** Its time at the latest, when it was `time` here: what was claimed in the second before a step is heard of after it. */
  latest(time: number): number {
    const held = this.#steps.filter(
      ({ since }, n) => since <= time && (this.#steps[n + 1]?.since ?? time) > time - 1_000,
    );
    return time + Math.max(...held.map(({ ahead }) => ahead));
  }

  /** When it was here that its clock showed `shown`, not long before `time` here. */
  here(shown: number, time: number): number {
    const moments = this.#steps.map(({ ahead }) => shown - ahead);
    return moments.reduce((best, one) => (Math.abs(time - one) < Math.abs(time - best) ? one : best));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server.stop();
    closeSync(this.#file);
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** In the order of bytes of this machine. */
function secondsOf(ms: number): Uint8Array {
  return new Uint8Array(new BigInt64Array([BigInt(ms / 1_000)]).buffer);
}
