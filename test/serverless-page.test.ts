import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { startRedisServer } from "../src/testing/redis-server.js";
import { bundle } from "./support/bundle.js";
import { rawRedis } from "./support/raw-redis.js";

it("An engine that was frozen with its process, and lost its connection meanwhile, schedules when it wakes.", async () => {
  await using server = await startRedisServer();
  await using raw = await rawRedis(server.url);
  await using program = await bundle(fileURLToPath(new URL("documentation/frozen-producer.ts", import.meta.url)));
  const producer = fork(program.path, [server.url], { execArgv: [], stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const schedule = async (id: string): Promise<unknown> => {
    const answer = once(producer, "message", { signal: AbortSignal.timeout(10_000) });
    producer.send(id);
    return (await answer)[0];
  };
  try {
    expect(await schedule("cart:1")).toBe("scheduled");

    producer.kill("SIGSTOP");
    expect(await raw.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")).toBe(1);
    producer.kill("SIGCONT");

    expect(await schedule("cart:2")).toBe("scheduled");
    expect(await schedule("cart:1")).toBe("duplicate");
  } finally {
    producer.kill("SIGKILL");
  }
});
