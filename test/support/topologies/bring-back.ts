import type { RedisServer } from "../../../src/testing/redis-server.js";

/** Ends what a test did to a server: one that is frozen goes on, one that was killed is started again. */
export async function bringBack(server: RedisServer): Promise<void> {
  if (isAlive(server.pid)) server.continue();
  else await server.restart();
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
