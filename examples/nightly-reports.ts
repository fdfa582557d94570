/** A job that is started from outside, does what is due, and ends: pulls messages in place of running a consumer. */
import { Queue } from "punctual";
import { redisEngine } from "punctual/engines/redis";

const engine = redisEngine({ url: "redis://127.0.0.1:6379" });
const reports = new Queue<{ month: string }>("nightly-reports", { engine });
await reports.scheduleMany(
  ["2026-01", "2026-02", "2026-13"].map((month) => ({ payload: { month }, id: month, delay: 0 })),
);

// Until nothing is due for a moment. What a killed job held is due again when its lease ends.
for (;;) {
  const [delivery] = await reports.receive({ wait: "200ms", lease: "5m" });
  if (delivery === undefined) break;
  const { month } = delivery.payload;
  if (Number(month.slice(5)) > 12) await delivery.bury("no such month");
  else await delivery.acknowledge();
}

const { messages } = await reports.list({ state: "dead" });
for (const { id, buried } of messages) console.log(id, buried?.reason); // 2026-13 no such month
await engine.close();
