import { execFile } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "./source-files.js";

/** Runs the script as on a system where there is no redis-server and nothing that installs one. */
function setupOn(platform: string): Promise<{ status: number; said: string }> {
  const preload = `data:text/javascript,Object.defineProperty(process, "platform", { value: "${platform}" })`;
  const env = { PATH: join(root, "docs"), REDIS_URL: "redis://127.0.0.1:1" };
  return new Promise((resolve) => {
    execFile(process.execPath, ["--import", preload, join(root, "scripts/setup.mjs")], { env }, (error, _, said) => {
      resolve({ status: error === null ? 0 : Number(error.code), said });
    });
  });
}

it.each([
  ["win32", /inside WSL \(`wsl --install`\)\. The demo needs none: `npm run demo` uses the Redis of REDIS_URL/],
  ["freebsd", /^The tests need redis-server 6\.2 or newer on the PATH: install it/],
])(
  "npm test on %s without a redis-server ends before the tests and says what to do, REDIS_URL or not",
  async (platform, text) => {
    const { status, said } = await setupOn(platform);
    expect(said).toMatch(text);
    expect(status).toBe(1);
  },
);
