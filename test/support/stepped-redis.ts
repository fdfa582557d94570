import { closeSync, openSync, writeSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RedisServer, startRedisServer } from "../../src/testing/redis-server.js";

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

  /**
   * @param library What moves its clock: `clockLibrary` makes it.
   * @param ahead How far its clock is ahead at the beginning, ms.
   * @param binary What is started: a name on the PATH, or a path.
   */
  static async start(library: string, ahead = 0, binary = "redis-server"): Promise<SteppedRedis> {
    const folder = await mkdtemp(join(tmpdir(), "punctual-stepped-"));
    const offset = join(folder, "offset");
    try {
      await writeFile(offset, secondsOf(ahead));
      const server = await startRedisServer({ binary: await startedWith(library, offset, binary, folder) });
      const stepped = new SteppedRedis(server, folder, openSync(offset, "r+"));
      stepped.#steps.push({ ahead, since: 0 });
      return stepped;
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
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

  /** Its time at the latest, when it was `time` here, or up to `within` ms before: what was claimed before a step is heard of after it. */
  latest(time: number, within: number): number {
    const held = this.#steps.filter(
      ({ since }, n) => since <= time && (this.#steps[n + 1]?.since ?? time) > time - within,
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

/** A program in `folder` that is `binary` with the library, which reads from `offset` how far to shift the clock. */
async function startedWith(library: string, offset: string, binary: string, folder: string): Promise<string> {
  const path = join(folder, "stepped-server");
  const words = [`CLOCK_OFFSET_FILE=${quoted(offset)}`, `LD_PRELOAD=${quoted(library)}`, "exec", quoted(binary)];
  await writeFile(path, `#!/bin/sh\n${words.join(" ")} "$@"\n`, { mode: 0o755 });
  return path;
}

/** One word for a shell. */
const quoted = (word: string) => `'${word.replaceAll("'", String.raw`'\''`)}'`;

/** In the order of bytes of this machine. */
function secondsOf(ms: number): Uint8Array {
  return new Uint8Array(new BigInt64Array([BigInt(ms / 1_000)]).buffer);
}
