import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

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
