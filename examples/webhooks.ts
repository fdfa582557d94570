/**
 * Delivers webhooks to a receiver that is down at first. With tenths of a second in place of minutes, so that it can be
 * watched.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import { Queue } from "punctual";
import { redisEngine } from "punctual/engines/redis";

const engine = redisEngine({ url: "redis://127.0.0.1:6379" });
const webhooks = new Queue<{ url: string; event: string }>("webhooks", { engine });

// Somebody's server, which answers 503 twice.
let requests = 0;
const receiver = createServer((_, response) => {
  requests += 1;
  response.writeHead(requests <= 2 ? 503 : 204).end();
}).listen(0, "127.0.0.1");
await once(receiver, "listening");
const address = receiver.address();
const port = typeof address === "object" ? address?.port : undefined;

const consumer = webhooks.consume(
  async (message) => {
    const response = await fetch(message.payload.url, {
      method: "POST",
      body: message.payload.event,
      // A second delivery of the same message carries the same key, so the receiver can tell.
      headers: { "idempotency-key": message.id },
      signal: message.signal,
    });
    // Gone for good: no retry mends that.
    if (response.status === 410) return message.bury("gone");
    if (!response.ok) throw new Error(`The receiver answered ${response.status}.`);
    console.log("delivered with attempt", message.attempt); // delivered with attempt 3
  },
  { timeout: "5s", retry: { attempts: 6, backoff: (attempt) => 100 * attempt } },
);
const acknowledged = new Promise<void>((resolve) => consumer.on("acknowledged", () => resolve()));

await webhooks.schedule({ url: `http://127.0.0.1:${port}/hook`, event: "order paid" }, { delay: 0 });
await acknowledged;

await consumer.close();
await engine.close();
receiver.close();
