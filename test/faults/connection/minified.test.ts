import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { expect, it } from "vitest";
import { withRedis } from "../../support/with-redis.js";

const redis = withRedis();

it("In a program that a bundler made small, and whose classes it renamed, replies of the server are still told from what else fails.", async () => {
  const folder = await mkdtemp(join(tmpdir(), "punctual-small-"));
  try {
    const outfile = join(folder, "each-client.cjs");
    const entry = fileURLToPath(new URL("programs/each-client.ts", import.meta.url));
    await build({ entryPoints: [entry], outfile, bundle: true, minify: true, platform: "node", format: "cjs" });
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [outfile, redis.url]);
    expect(stderr).toBe("");
    expect(stdout).toBe("scheduled cancelled\n".repeat(4));
  } finally {
    await rm(folder, { recursive: true });
  }
});
