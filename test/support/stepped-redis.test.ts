import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { SteppedRedis } from "./stepped-redis.js";

it("A Redis that does not start leaves no folder behind", async () => {
  const folder = await mkdtemp(join(tmpdir(), "punctual-empty-"));
  vi.stubEnv("TMPDIR", folder);
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    await rm(folder, { recursive: true });
  });
  await expect(SteppedRedis.start("no-library", 0, "no such 'redis'")).rejects.toThrow(/ended at once/);
  expect(await readdir(folder)).toEqual([]);
});
