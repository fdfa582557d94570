import { CommandFailure, type Connection } from "../../src/clients/port.js";
import { systemClock } from "../../src/clock.js";
import type { Evaluator, Script, ScriptArguments } from "../../src/scripting/script.js";

/**
 * Runs each script once on one connection, and passes every failure on as it is: for tests of scripts, without the supervisor.
 * `notAfter` is the server time after which scripts refuse to run; by default never.
 */
export function directEvaluator(connection: Connection, options: { notAfter?: number } = {}): Evaluator {
  const notAfter = String(options.notAfter ?? Number.MAX_SAFE_INTEGER);
  const run = (script: Script, keys: readonly string[], args: ScriptArguments) => {
    const values = typeof args === "function" ? args(false) : args;
    return connection.send(["EVALSHA", script.sha1, String(keys.length), ...keys, notAfter, ...values]);
  };
  return {
    clock: systemClock,
    async evaluate(script, keys, args) {
      try {
        return { reply: await run(script, keys, args), uncertain: false };
      } catch (error) {
        if (!(error instanceof CommandFailure) || error.code !== "NOSCRIPT") throw error;
        await connection.send(["SCRIPT", "LOAD", script.source]);
        return { reply: await run(script, keys, args), uncertain: false };
      }
    },
  };
}
