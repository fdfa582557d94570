// One message over each engine: `node smoke.js <URL of a Redis>` says what was delivered.
import { Queue, type Engine } from "punctual";
import { memoryEngine } from "punctual/engines/memory";
import { redisEngine } from "punctual/engines/redis";

async function deliverOne(engine: Engine): Promise<void> {
  const queue = new Queue<{ orderId: string }>("smoke", { engine });
  let tell: (orderId: string) => void = () => {};
  const delivered = new Promise<string>((resolve) => (tell = resolve));
  const consumer = queue.consume(async (message) => tell(message.payload.orderId), { concurrency: 2 });
  // Optional inputs accept undefined, also in a project that tells the two apart.
  await queue.schedule({ orderId: "A1" }, { delay: "20ms", id: undefined, attempts: undefined });
  console.log(`${engine.name} delivered ${await delivered}`);
  await consumer.close();
  await engine.close();
}

async function main(): Promise<void> {
  const url = process.argv[2];
  if (url === undefined) throw new Error("the URL of a Redis is missing");
  await deliverOne(memoryEngine());
  await deliverOne(redisEngine({ url }));
  console.log("smoke ended");
}

void main();
