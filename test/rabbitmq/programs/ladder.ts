// `npm run test:rabbitmq -- ladder`: what a hop costs, what a finer grain brings, and how fast it is when it is full.
import { Ladder } from "../../../src/engines/rabbitmq/ladder.js";
import { Queue } from "../../../src/index.js";
import { startRabbitmqServer } from "../../support/rabbitmq-server.js";
import { copiesOf, engineWithGrain, measureLadder } from "../measure-ladder.js";

const server = await startRabbitmqServer();
const { url } = server;
const second = 1_000;
try {
  console.log("grain: levels; hops a message, lateness p50/p99 of 2,000 messages due in 0 to 10 s, 180 a second");
  for (const grain of [1, 4, 8, 16, 64, 1_000]) {
    const { hops, lateness } = await measureLadder({
      url,
      grain,
      messages: 2_000,
      delays: [0, 10 * second],
      concurrency: 100,
    });
    const { levels } = new Ladder(grain);
    console.log(`${grain} ms: ${levels}; ${hops.toFixed(1)}, ${lateness.p50}/${lateness.p99} ms`);
  }
  console.log("delay: copies as the broker counts them, and as planned");
  for (const delay of [5, 50, 500, 5 * second, 20 * second]) {
    const planned = new Ladder(8).descent(delay).hops;
    console.log(`${delay} ms: ${await copiesOf(url, 8, delay)}, ${planned}`);
  }
  for (const day of [60 * second, 3_600 * second, 86_400 * second, 30 * 86_400 * second]) {
    const ladder = new Ladder(8);
    let hops = 0;
    for (let index = 0; index < 1_000; index++) hops += ladder.descent(Math.random() * day).hops;
    console.log(`0 to ${day} ms: ${(hops / 1_000).toFixed(1)} planned on average`);
  }
  const full = { url, grain: 8, messages: 10_000, concurrency: 500 } as const;
  const random = await measureLadder({ ...full, delays: [3 * second, 4 * second] });
  console.log(
    `10,000 messages due within 1 s and scheduled in 2 s: ${Math.round(random.perSecond)} a second, ` +
      `lateness p50/p99 ${random.lateness.p50}/${random.lateness.p99} ms`,
  );
  await using engine = engineWithGrain(url, 8);
  const queue = new Queue<number>("bulk", { engine });
  const begin = performance.now();
  const delays = Array.from({ length: 20_000 }, () => 60 * second + Math.random() * 60 * second);
  await queue.scheduleMany(delays.map((delay, index) => ({ payload: index, delay })));
  console.log(`20,000 scheduled in one call: ${Math.round(20_000 / ((performance.now() - begin) / second))} a second`);
} finally {
  await server.stop();
}
