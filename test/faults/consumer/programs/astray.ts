// A process whose clock is wrong: it consumes one queue and schedules into another, and tells its parent of both.
// First, so that nobody has looked at the clock yet.
import { machineTime, stepClock } from "../../../support/process-clock.js";
import { setTimeout as sleep } from "node:timers/promises";
import { redisEngine } from "../../../../src/engines/redis/engine.js";
import { Queue } from "../../../../src/queue.js";
import type { AstrayNews, AstrayOptions, AstrayOrder } from "../astray-process.js";

const { url, library, name, consumes, schedules, ahead, lease, holds } = JSON.parse(
  process.argv[2] ?? "",
) as AstrayOptions;
stepClock(ahead);
const tell = (news: AstrayNews) => process.send?.(news);
const engine = redisEngine({ url, library });
const target = new Queue<string>(schedules, { engine });
const consumer = new Queue<string>(consumes, { engine })
  .consume(
    async ({ id, attempt, dueAt, lateness, payload }) => {
      const [at, wall] = [machineTime(), Date.now()];
      tell({ kind: "started", name, id, attempt, dueAt: dueAt.getTime(), lateness, at, wall });
      if (payload === "hold") await sleep(holds);
    },
    { lease },
  )
  .on("acknowledged", ({ id }) => tell({ kind: "acknowledged", name, id }))
  .on("leaseLost", ({ id }) => tell({ kind: "lost", name, id }));

process.on("disconnect", () => process.exit());
process.on("message", (order: AstrayOrder) => {
  if (order.kind === "step") stepClock(order.by);
  else if (order.kind === "schedule") void schedule(order);
  else void consumer.close().then(() => engine.close().then(() => process.disconnect()));
});

async function schedule({ id, delay, payload }: AstrayOrder & { kind: "schedule" }): Promise<void> {
  const from = machineTime();
  const { dueAt } = await target.schedule(payload, { id, delay });
  tell({ kind: "scheduled", name, id, earliest: from + delay, dueAt: dueAt.getTime(), latest: machineTime() + delay });
}
