import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { root } from "../source-files.js";

/**
 * The valkey-server of this machine, as `startRedisServer({ binary })` takes it. Where there is none, `npm test` has said why it
 * could not be fetched, and tests that need it are left out; in CI that is an error.
 */
export function valkeyServer(): string | undefined {
  const { status, stdout } = spawnSync(process.execPath, [join(root, "scripts", "valkey.mjs")], { encoding: "utf8" });
  if (status === 0) return stdout.trim();
  if (process.env["CI"]) throw new Error("CI needs valkey-server 8: run `npm run setup`, or put it on the PATH");
  return undefined;
}
