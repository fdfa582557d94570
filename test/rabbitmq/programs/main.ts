// `npm run test:rabbitmq -- --messages 20000 --seconds 60`: the run over a restart of the broker, at full length.
import { parseArgs } from "node:util";
import { rabbitmqEngine } from "../../../src/engines/rabbitmq/engine.js";
import { startRabbitmqServer } from "../../support/rabbitmq-server.js";
import { runRestart } from "../run-restart.js";

const whole = { type: "string" } as const;
const { values } = parseArgs({ options: { messages: whole, seconds: whole, consumers: whole } });
const [messages, seconds, consumers] = [
  values.messages ?? "20000",
  values.seconds ?? "60",
  values.consumers ?? "10",
].map(Number);
if (![messages, seconds, consumers].every((value) => Number.isSafeInteger(value) && Number(value) > 0)) {
  console.error("Usage: npm run test:rabbitmq -- [--messages n] [--seconds n] [--consumers n]: whole numbers from 1.");
  process.exit(2);
}
const text = ({ p50, p99 }: { readonly p50: number; readonly p99: number }) => `${p50}/${p99} ms`;
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
  console.log(`lateness p50/p99 ${text(lateness.before)} before, ${text(lateness.after)} from 10 s after it`);
  console.log(`at most ${lateness.most} ms; left in the broker: ${JSON.stringify(figures.left)}`);
  if (lost.length > 0) console.log("lost:", lost.slice(0, 10).join(" "));
  if (refused + lost.length + early.length > 0) process.exitCode = 1;
} finally {
  await server.stop();
}
