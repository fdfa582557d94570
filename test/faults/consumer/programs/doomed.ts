// A consumer as a process of its own, whose handler of the message `doom` is the end of it. It says what it has in hand, and waits
// for a word of its parent.
import { redisEngine } from "../../../../src/engines/redis/engine.js";
import { Queue } from "../../../../src/queue.js";
import type { DoomedOptions } from "../doomed-process.js";

const { url, library, queue, end } = JSON.parse(process.argv[2] ?? "") as DoomedOptions;
const goAhead = new Promise((resolve) => process.once("message", resolve));

new Queue<string>(queue, { engine: redisEngine({ url, library }) }).consume(
  async ({ id }) => {
    process.send?.(id);
    await goAhead;
    if (id !== "doom") return new Promise<void>(() => {});
    if (end === "exit") process.exit(3);
    // Nobody handles it, so Node ends the process; what the handler throws itself is handled.
    void Promise.reject(new Error("left behind"));
    throw new Error("thrown");
  },
  { lease: "1s" },
);
process.on("disconnect", () => process.exit());
