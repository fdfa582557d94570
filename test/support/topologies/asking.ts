import type { RedisServer } from "../../../src/testing/redis-server.js";
import { type RawRedis, rawRedis } from "../raw-redis.js";

/** Sends a server one command. */
export type Ask = (...command: readonly (string | number)[]) => Promise<unknown>;

/** How long one question waits for its answer, ms: a frozen server gives none, and a busy machine takes its time. */
const silence = 3_000;

/** A way to ask one server many times, over one connection, which is made anew when the server was ended or said nothing. */
export function asking(server: RedisServer): Ask {
  let connecting: Promise<RawRedis> | undefined;
  return async (...command) => {
    const redis = (connecting ??= rawRedis(server.url));
    const answer = async () => (await redis).text(...command);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`${server.url} does not answer`)), silence);
    });
    try {
      return await Promise.race([answer(), late]);
    } catch (error) {
      if (connecting === redis) connecting = undefined;
      redis.then(
        (one) => one.close(),
        () => {},
      );
      throw error;
    } finally {
      clearTimeout(timer);
    }
  };
}
