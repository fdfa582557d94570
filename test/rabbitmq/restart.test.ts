import { expect, it } from "vitest";
import { rabbitmqEngine } from "../../src/engines/rabbitmq/engine.js";
import { withRabbitmq } from "../support/rabbitmq-of-file.js";
import { runRestart } from "./run-restart.js";

const rabbitmq = withRabbitmq();

it("Over a restart of the broker nothing is lost, none is early, and all consumers are back within 5 s", async () => {
  const figures = await runRestart({
    engine: () => rabbitmqEngine({ url: rabbitmq.url }),
    restart: () => rabbitmq.server.restart(),
    messages: 2_000,
    span: 6_000,
    consumers: 10,
  });
  expect(figures).toMatchObject({ refused: 0, lost: [], early: [] });
  expect(figures.backAfter).toBeLessThan(5_000);
  // What was being worked on when the broker went away, and schedules whose confirmation was lost.
  expect(figures.repeated).toBeLessThan(400);
}, 120_000);
