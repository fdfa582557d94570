import { type RabbitmqEngineOptions, readRabbitmqEngineOptions } from "./engine-options.js";
import type { Engine } from "../../engine.js";
import { Ladder } from "./ladder.js";
import { RabbitmqEngine } from "./rabbitmq-engine.js";

export type { RabbitmqEngineOptions };

/** How long the lowest level of the ladder holds a message, ms; measured, see the page of this engine. */
const grain = 8;

/**
 * Keeps messages in RabbitMQ 3.8 or newer, without a plugin. Needs `amqplib` to be installed. Connects when it is first used,
 * and again whenever the connection is lost. For teams that run a RabbitMQ already: a broker cannot cancel, reschedule, replace,
 * list or look at a message, so those calls fail with `unsupported`; `docs/reference/engines/rabbitmq.md` has the rest.
 *
 * Throws `invalid-argument` when an option is wrong, and `unsupported` for bounds of dead letters.
 */
export function rabbitmqEngine(options: RabbitmqEngineOptions): Engine {
  return new RabbitmqEngine(readRabbitmqEngineOptions(options), new Ladder(grain));
}
