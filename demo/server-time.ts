import type { Connection, Reply } from "../src/clients/port.js";

/** How often the server is asked for its time, and for how long an answer counts, ms. */
const interval = 100;
const window = 2_000;

/** Follows the clock of a Redis through a connection of its own, apart from the engine that it is to judge. */
export interface ServerTime {
  /** The latest that the server's time can be now, Unix ms with a fraction. */
  now(): number;
  /** Stops asking. */
  stop(): void;
}

/**
 * Asks once and then every 100 ms. The server took its time after it was asked, so its clock is ahead of ours by at most
 * that time minus when we asked; the least of the last two seconds is the closest. On loopback that is about 0.1 ms.
 */
export async function followServerTime(connection: Connection): Promise<ServerTime> {
  let samples: { at: number; ahead: number }[] = [];
  let ahead = Infinity;
  const ask = async () => {
    const at = performance.now();
    const time = readTime(await connection.send(["TIME"]));
    samples = [...samples.filter((sample) => sample.at > at - window), { at, ahead: time - at }];
    ahead = Math.min(...samples.map((sample) => sample.ahead));
  };
  await ask();
  // A question that fails leaves the estimate as it is; the run itself meets the same fault.
  const timer = setInterval(() => void ask().catch(() => {}), interval);
  return {
    now: () => performance.now() + ahead,
    stop: () => clearInterval(timer),
  };
}

/** The reply of TIME: seconds and microseconds. */
function readTime(reply: Reply): number {
  const [seconds, microseconds] = Array.isArray(reply) ? reply.map(String) : [];
  const time = Number(seconds) * 1_000 + Number(microseconds) / 1_000;
  if (!Number.isFinite(time)) throw new TypeError("The server answered TIME with something that is no time.");
  return time;
}
