import type { EngineQueue, Watcher } from "../../../src/engine.js";

let names = 0;

/** Takes what it is woken for, as a consumer does, until it is stopped. */
export async function listeningConsumer(queue: EngineQueue, limit = 50) {
  const name = `consumer-${++names}`;
  const taken: { id: string; early: number }[] = [];
  const troubles: string[] = [];
  let claims = 0;
  let nextAt = 0;
  let stopped = false;
  let look = () => {};
  const watcher: Watcher = {
    wake(at) {
      nextAt = Math.min(nextAt, at);
      look();
    },
    postpone() {},
    interrupted: ({ code }) => troubles.push(code),
    recovered() {
      nextAt = 0;
      look();
    },
  };
  const watch = await queue.watch(name, watcher);
  const claim = async () => {
    nextAt = Infinity;
    const answer = await queue.claim({
      limit,
      lease: 60_000,
      consumer: name,
      token: `${name}.${++claims}`,
      attempts: 5,
    });
    for (const { id, dueAt } of answer.messages) taken.push({ id, early: dueAt - answer.now });
    nextAt = Math.min(nextAt, answer.nextAt);
  };
  const running = (async () => {
    while (!stopped) {
      await claim();
      if (nextAt <= queue.clock.now()) continue;
      await new Promise<void>((resolve) => {
        look = resolve;
        if (stopped || nextAt <= queue.clock.now()) resolve();
      });
    }
  })();
  return {
    taken,
    troubles,
    ids: () => taken.map(({ id }) => id).toSorted(),
    claims: () => claims,
    look: () => watcher.wake(0),
    async stop() {
      stopped = true;
      look();
      await running;
      await watch[Symbol.asyncDispose]();
    },
  };
}
