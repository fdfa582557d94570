import { beforeAll } from "vitest";
import type { DeadLetterOptions } from "../../src/dead-letter-bounds.js";
import type { Engine, ListQuery } from "../../src/engine.js";
import { redisEngine } from "../../src/engines/redis/engine.js";
import { PunctualError } from "../../src/errors.js";
import { type ConformanceCase, conformanceCases, realTime } from "../../src/testing/conformance/index.js";
import { calls, userRules, users } from "./acl-users.js";
import { castingEngine } from "./casting-engine.js";
import { type FileRedis, withRedis } from "./with-redis.js";

/**
 * The cases that users are held to, those that take longest first. Left out is what runs alone, as it measures time or breaks
 * connections, and what is about the size of a call, outages and the cost of idling: it takes long, and makes no call that
 * others do not make.
 */
export const casesOfUsers: readonly ConformanceCase[] = conformanceCases
  .filter(({ alone, promise }) => alone !== true && promise !== 9 && promise !== 10 && promise !== 15)
  .toReversed();

/** A private Redis that knows the users of the page, there while the tests of a file run. */
export function withUsers(): FileRedis {
  const redis = withRedis();
  beforeAll(async () => {
    for (const [user, rules] of userRules) await redis.raw.command("ACL", "SETUSER", user, ...rules);
  });
  return redis;
}

/** An engine that logs in as one of the users, or as the user `default`, who may do everything. */
export function engineAs(user: string | undefined, url: string, deadLetters?: DeadLetterOptions): Engine {
  return redisEngine({ url, deadLetters, ...(user !== undefined && { username: user, password: "secret" }) });
}

/** How a case went. */
interface CaseRun {
  /** Calls that did something. */
  readonly done: readonly string[];
  /** Calls that were refused for want of a right. */
  readonly refused: readonly string[];
  /** Why it did not pass. */
  readonly failure: { readonly error: unknown } | undefined;
}

let queues = 0;

/**
 * Runs a case on the Redis of `url`, each call made by the user whom `choose` names, or by `default` when it names none. Once
 * a call was refused the case waits for nothing more.
 */
export async function runAs(
  choose: (call: string) => string | undefined,
  one: ConformanceCase,
  url: string,
): Promise<CaseRun> {
  const done = new Set<string>();
  const refusals = new Map<string, PunctualError>();
  const opened: Engine[] = [];
  const open = (deadLetters?: DeadLetterOptions): Engine => {
    const owner = engineAs(undefined, url, deadLetters);
    const engines = new Map(users.map((user) => [user, engineAs(user, url, deadLetters)]));
    const engine = castingEngine([owner, ...engines.values()], {
      name(operation, [query]) {
        const call = operation === "list" ? `list of ${(query as ListQuery).state}` : operation;
        return calls.find((one) => one === call);
      },
      choose: (call) => engines.get(choose(call) ?? "") ?? owner,
      answered(call, answer) {
        // Whoever asks for nothing, or finds nothing to do, needs no right.
        const isNothing = answer === 0 || (Array.isArray(answer) && answer.length === 0);
        if (!isNothing) done.add(call);
      },
      failed(call, failure) {
        if (lacksRight(failure) && !refusals.has(call)) refusals.set(call, failure);
      },
    });
    opened.push(engine);
    return engine;
  };
  const { elapse, until } = realTime();
  let failure: CaseRun["failure"];
  try {
    await one.run({
      engine: open(),
      other: open(),
      bounded: open,
      queueName: () => `conformance-${++queues}`,
      elapse,
      async until(condition, what, within) {
        // A consumer that is refused tries again, for as long as it is waited for.
        await until(() => refusals.size > 0 || condition(), what, within);
        for (const [call, cause] of refusals) throw new Error(`"${call}" was refused`, { cause });
      },
      disturb: () => Promise.reject(new Error("A case that cuts all connections has to run alone.")),
      close: async () => {},
    });
  } catch (error) {
    failure = { error };
  } finally {
    await Promise.all(opened.map((engine) => engine.close()));
  }
  return { done: [...done], refused: [...refusals.keys()], failure };
}

/** Both name the command: ours, or the reply of the server that it holds. */
const refusal = /^The user of Redis lacks (?:the right to run [A-Z]+|a right that is needed .+ '[a-z|]+' command)/;

function lacksRight(failure: unknown): failure is PunctualError {
  return failure instanceof PunctualError && failure.code === "misconfigured" && refusal.test(failure.message);
}
