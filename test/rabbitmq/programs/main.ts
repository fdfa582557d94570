// `npm run test:rabbitmq -- --messages 20000 --seconds 60`: the run over a restart of the broker, at full length.
import { parseArgs } from "node:util";
import { rabbitmqEngine } from "../../../src/engines/rabbitmq/engine.js";
import { startRabbitmqServer } from "../../support/rabbitmq-server.js";
import { runRestart } from "../run-restart.js";

const text = { type: "string" } as const;
const { values } = parseArgs({ options: { messages: text, seconds: text, consumers: text } });
const [messages, seconds, consumers] = [
  values.messages ?? "20000",
  values.seconds ?? "60",
  values.consumers ?? "10",
].map(Number);
if (![messages, seconds, consumers].every((value) => Number.isSafeInteger(value) && Number(value) > 0)) {
  console.error("Usage: npm run test:rabbitmq -- [--messages n] [--seconds n] [--consumers n]: whole numbers from 1.");
  process.exit(2);
}
const server = await startRabbitmqServer();
try {
  const figures = await runRestart({
    engine: () => rabbitmqEngine({ url: server.url }),
    restart: () => server.restart(),
    messages: Number(messages),
    span: Number(seconds) * 1_000,
    consumers: Number(consumers),
  });
  const { lost, early, refused, repeated, backAfter, lateness } = figures;
  console.log(`${messages} messages in ${seconds} s, ${consumers} consumers, the broker restarted once in the middle:`);
  console.log(`refused ${refused}, lost ${lost.length}, early ${early.length}, delivered again ${repeated}`);
  console.log(`all consumers back ${Math.round(backAfter)} ms after the broker`);
  console.log(
    `lateness while the broker was there: p50 ${lateness.p50} ms, p99 ${lateness.p99} ms, most ${lateness.most} ms`,
  );
  if (refused + lost.length + early.length > 0) process.exitCode = 1;
} finally {
  await server.stop();
}
