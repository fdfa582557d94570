/**
 * Cancels orders that were not paid in time. With half a second in place of 30 minutes, so that it can be watched.
 */
import { Queue } from "punctual";
import { redisEngine } from "punctual/engines/redis";

const engine = redisEngine({ url: "redis://127.0.0.1:6379" });
const deadlines = new Queue<{ orderId: string }>("payment-deadlines", { engine });

const orders = new Map<string, "unpaid" | "paid" | "cancelled">();

async function place(orderId: string): Promise<void> {
  orders.set(orderId, "unpaid");
  // The id says what the message is about, so it is found again without storing anything.
  await deadlines.schedule({ orderId }, { delay: "500ms", id: `order:${orderId}` });
}

async function pay(orderId: string): Promise<void> {
  orders.set(orderId, "paid");
  // If this is too late, or fails, no harm is done: the handler looks at the order before it cancels it.
  await deadlines.cancel(`order:${orderId}`);
}

let resolve = () => {};
const firstCancelled = new Promise<void>((done) => (resolve = done));
const consumer = deadlines.consume(async (message) => {
  const { orderId } = message.payload;
  if (orders.get(orderId) !== "unpaid") return;
  orders.set(orderId, "cancelled");
  resolve();
});

await place("A1");
await place("A2");
await pay("A1");
await firstCancelled;
console.log(orders.get("A1"), orders.get("A2")); // paid cancelled

await consumer.close();
await engine.close();
