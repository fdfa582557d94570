import { addressOf } from "../../../src/clients/redis-url.js";
import { defineScript } from "../../../src/scripting/script.js";
import { Supervisor } from "../../../src/connection/supervisor.js";
import { type ClientToTest, clientsToTest } from "../../support/clients-to-test.js";
import type { RawRedis } from "../../support/raw-redis.js";

/** Notes a text under a key; safe to repeat. Gives the server's time and how often the text was noted so far. */
export const note = defineScript(
  "note",
  `local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
if now > tonumber(ARGV[1]) then return redis.error_reply(string.format('TOOLATE %.3f', now)) end
return {string.format('%.3f', now), redis.call('HINCRBY', KEYS[1], ARGV[2], 1)}`,
);

/** The libraries in the versions that are recommended. */
export const currentClients = clientsToTest.filter(({ name }) => /^(node-redis|ioredis) 6$/.test(name));

/** A supervisor whose time-outs are those of production. */
export function supervise({ connectorAt }: ClientToTest, url: string): Supervisor {
  return new Supervisor({ connector: connectorAt(addressOf({ url })) });
}

/** How often each text was noted. */
export async function notes(direct: RawRedis, key = "notes"): Promise<Record<string, number>> {
  const flat = await direct.text("HGETALL", key);
  const words = Array.isArray(flat) ? flat.map(String) : [];
  return Object.fromEntries(
    words.flatMap((word, index) => (index % 2 === 0 ? [[word, Number(words[index + 1])]] : [])),
  );
}

/** What a promise was rejected with; handled from the start, so it can be looked at later. */
export const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (failure: unknown) => failure,
  );
