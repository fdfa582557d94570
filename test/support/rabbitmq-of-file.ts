import { afterAll, beforeAll } from "vitest";
import { type RabbitmqRelay, relayTo } from "./rabbitmq-relay.js";
import { type RabbitmqServer, startRabbitmqServer } from "./rabbitmq-server.js";

/** A private RabbitMQ behind a relay, there while the tests of a file run. */
export interface FileRabbitmq {
  readonly server: RabbitmqServer;
  readonly relay: RabbitmqRelay;
  /** The address of the relay. */
  readonly url: string;
}

/** A broker takes 5 s to start, and many times that on a busy machine. */
const timeToStart = 120_000;

/** Starts a private RabbitMQ before the tests of a file and ends it after them. What it gives is there in tests and hooks. */
export function withRabbitmq(): FileRabbitmq {
  let server: RabbitmqServer;
  let relay: RabbitmqRelay;
  beforeAll(async () => {
    server = await startRabbitmqServer();
    relay = await relayTo(server.port);
  }, timeToStart);
  afterAll(async () => {
    await relay?.close();
    await server?.stop();
  }, timeToStart);
  return {
    get server() {
      return server;
    },
    get relay() {
      return relay;
    },
    get url() {
      return relay.url;
    },
  };
}
