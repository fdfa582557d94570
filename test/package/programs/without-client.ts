// What somebody meets who has not installed @redis/client: `node without-client.js`.
import { PunctualError, Queue } from "punctual";
import { redisEngine } from "punctual/engines/redis";

const engine = redisEngine({ url: "redis://127.0.0.1:1" });
try {
  await new Queue("orders", { engine }).schedule({ orderId: "A1" }, { delay: 0 });
} catch (error) {
  if (error instanceof PunctualError) console.log(`${error.code}: ${error.message}`);
  else throw error;
}
await engine.close();
