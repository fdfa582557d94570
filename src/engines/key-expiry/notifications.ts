import type { Supervisor } from "../../connection/supervisor.js";
import { PunctualError } from "../../errors.js";
import { asArray, asText } from "../../scripting/reply.js";

const setting = "notify-keyspace-events";

type Server = Pick<Supervisor, "run">;

/**
 * Sees to it that Redis tells of keys that expire: adds what is needed to what is set. Answers whether it was set before.
 * Where it may not ask, `probe` says whether such an event comes. Fails with `misconfigured` when none does.
 */
export async function turnOnNotifications(server: Server, probe: () => Promise<boolean>): Promise<boolean> {
  try {
    return await server.run(async (send) => {
      const flags = asText(asArray(await send("CONFIG", "GET", setting), "CONFIG GET").at(1), "CONFIG GET");
      const missing = [
        ...(flags.includes("E") ? [] : ["E"]),
        // A stands for all kinds of events.
        ...(/[xA]/.test(flags) ? [] : ["x"]),
      ];
      if (missing.length > 0) await send("CONFIG", "SET", setting, flags + missing.join(""));
      return missing.length === 0;
    });
  } catch (error) {
    if (!(error instanceof PunctualError) || !["misconfigured", "refused"].includes(error.code)) throw error;
    if (await probe()) return true;
    throw new PunctualError(
      "misconfigured",
      `Redis does not tell of keys that expire, and its setting may not be changed from here: set ${setting} to what it is and "Ex" (in redis.conf, with CONFIG SET, or where your provider has such settings). ${error.message}`,
      { cause: error, details: { setting, needed: "Ex" } },
    );
  }
}

/** The database of a connection, which is part of the name of the channel. */
export async function databaseOf(server: Server): Promise<number> {
  const text = asText(await server.run((send) => send("CLIENT", "INFO")), "CLIENT INFO");
  const database = / db=(\d+)/.exec(text)?.[1];
  if (database === undefined)
    throw new PunctualError("misconfigured", `CLIENT INFO does not tell the database: "${text.slice(0, 200)}"`);
  return Number(database);
}
