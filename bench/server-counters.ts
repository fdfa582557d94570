import type { Connection } from "../src/clients/port.js";

/** What a Redis has counted since it started, and what it holds. */
export interface ServerCounters {
  /** Commands that it ran, those inside scripts included. */
  readonly commands: number;
  /** Bytes that went over the network, both ways. */
  readonly network: number;
  /** Memory in use, bytes. */
  readonly memory: number;
}

/** Asks with one command, so that asking hardly counts. */
export async function countersOf(connection: Connection): Promise<ServerCounters> {
  const text = String(await connection.send(["INFO"]));
  const read = (name: string): number => {
    const [, value] = new RegExp(`^${name}:(\\d+)`, "mu").exec(text) ?? [];
    if (value === undefined) throw new TypeError(`The server does not say its ${name}.`);
    return Number(value);
  };
  return {
    commands: read("total_commands_processed"),
    network: read("total_net_input_bytes") + read("total_net_output_bytes"),
    memory: read("used_memory"),
  };
}
