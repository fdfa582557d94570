import { afterAll, afterEach, beforeAll, expect, onTestFinished } from "vitest";
import type { EngineQueue, OpenOptions } from "../../../src/engine.js";
import { zsetListEngine } from "../../../src/engines/zset-list/engine.js";
import { newMessage } from "../../../src/testing/conformance/stage.js";
import { closedAtEnd } from "../../support/closed-at-end.js";
import { FaultProxy, isCommand } from "../../support/fault-proxy.js";
import { withRedis } from "../../support/with-redis.js";

const deaf = { wake() {}, postpone() {}, interrupted() {}, recovered() {} };

/** Consumers that block on the list, on a Redis for the tests of one file, behind a proxy. */
export function blockingConsumers({ reliable }: { readonly reliable: boolean }) {
  const redis = withRedis();
  let proxy: FaultProxy;
  let names = 0;

  beforeAll(async () => {
    proxy = await FaultProxy.start(redis.server.port);
  });
  afterAll(() => proxy[Symbol.asyncDispose]());
  afterEach(() => redis.raw.command("ACL", "SETUSER", "default", "+@all"));

  function claim(queue: EngineQueue, consumer: string, limit = 10) {
    return queue.claim({ limit, lease: 10_000, consumer, token: `${consumer}-${++names}`, attempts: 5 });
  }

  async function blocked(): Promise<number> {
    return [...String(await redis.raw.text("CLIENT", "LIST")).matchAll(/ flags=\w*b\w* /g)].length;
  }

  /** A consumer that blocks on the list, since one on duty and a deputy look out for what comes due soon. */
  async function blocking(options?: OpenOptions) {
    const name = `blocking-${++names}`;
    const others = closedAtEnd(zsetListEngine({ url: redis.url, reliable })).open(name);
    for (const consumer of ["duty", "deputy"]) {
      const other = await others.watch(consumer, deaf);
      onTestFinished(() => other[Symbol.asyncDispose]());
      await claim(others, consumer);
    }
    const engine = closedAtEnd(zsetListEngine({ url: proxy.url, reliable }));
    const queue = engine.open(name, options);
    const watch = await queue.watch("third", deaf);
    onTestFinished(() => watch[Symbol.asyncDispose]());
    await claim(queue, "third");
    // When all are connected, so that it is still to come when the third one claims.
    await others.schedule([newMessage("soon", { due: { delay: 400 } })]);
    const claiming = claim(queue, "third");
    await expect.poll(blocked).toBe(1);
    return { engine, name, others, queue, watch, claiming };
  }

  /** It has popped one of two messages, `id`, and its claim that is to give that one out is held on its way. */
  async function popped(options?: OpenOptions) {
    const scene = await blocking(options);
    const held = proxy.plan("hold", isCommand("EVALSHA"));
    await scene.others.schedule(["a", "b"].map((id) => newMessage(id)));
    const [left] = (await claim(scene.others, "duty", 1)).messages;
    await held.happened;
    return { ...scene, held, id: left?.id === "a" ? "b" : "a" };
  }

  return {
    redis,
    claim,
    blocking,
    popped,
    /** Changes what the user of all engines may run, until the end of the test. */
    setRights: (rights: string) => redis.raw.command("ACL", "SETUSER", "default", rights),
    /** Cuts the connections of the one that blocks. */
    cut: () => proxy.cut(),
    /** How many are scheduled or due: "soon" may be either on a busy machine. */
    async waiting(queue: EngineQueue): Promise<number> {
      const { scheduled, due } = await queue.counts();
      return scheduled + due;
    },
  };
}
