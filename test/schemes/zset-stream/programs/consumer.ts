// A consumer of one group as a process of its own. It tells its parent of each message that it has handled.
import { zsetStreamEngine } from "../../../../src/engines/zset-stream/engine.js";
import { Queue } from "../../../../src/queue.js";

const { url, queue, group } = JSON.parse(process.argv[2] ?? "") as { url: string; queue: string; group: string };
const engine = zsetStreamEngine({ url, group });
const messages = new Queue<number>(queue, { engine });
messages.consume(
  async ({ payload, lateness }) => {
    await new Promise((resolve) => process.send?.([payload, lateness], resolve));
  },
  { concurrency: 25, lease: 1_000, retry: { attempts: 1_000 } },
);
process.on("disconnect", () => process.exit());
