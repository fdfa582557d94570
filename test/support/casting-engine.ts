import type { Engine, EngineQueue } from "../../src/engine.js";

/** Who makes a call, and what it comes to. */
export interface Casting {
  /** The name of a call, of which one operation can have several; `undefined` for what reaches no store. */
  readonly name: (operation: keyof EngineQueue, args: readonly unknown[]) => string | undefined;
  /** Chooses the engine that makes a call, by its name. */
  readonly choose: (call: string) => Engine;
  readonly answered: (call: string, answer: unknown) => void;
  readonly failed: (call: string, failure: unknown) => void;
}

type Operation = (...args: unknown[]) => Promise<unknown>;

/** An engine that has each of its calls made by one of several on the same store. Closing it closes all of them. */
export function castingEngine(engines: readonly [Engine, ...Engine[]], casting: Casting): Engine {
  const close = async () => {
    await Promise.all(engines.map((engine) => engine.close()));
  };
  return {
    name: engines[0].name,
    open(name, options) {
      const queues = new Map(engines.map((engine) => [engine, engine.open(name, options)]));
      return castingQueue(queues, casting);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

function castingQueue(queues: ReadonlyMap<Engine, EngineQueue>, casting: Casting): EngineQueue {
  const queueFor = (call: string): EngineQueue => {
    const queue = queues.get(casting.choose(call));
    if (queue === undefined) throw new Error(`The engine chosen for ${call} is none of those that were given.`);
    return queue;
  };
  // Each engine has its own estimate of the server's clock: what is due is decided by that of whoever claims.
  return new Proxy(queueFor("claim"), {
    get(claiming, key: keyof EngineQueue) {
      if (typeof claiming[key] !== "function") return claiming[key];
      return async (...args: unknown[]) => {
        const call = casting.name(key, args);
        const queue = call === undefined ? claiming : queueFor(call);
        const made = (queue[key] as Operation).apply(queue, args);
        if (call === undefined) return made;
        try {
          const answer = await made;
          casting.answered(call, answer);
          return answer;
        } catch (failure) {
          casting.failed(call, failure);
          throw failure;
        }
      };
    },
  });
}
