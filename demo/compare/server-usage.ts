import type { Connection } from "../../src/clients/port.js";

/** What a Redis has used so far. */
export interface Usage {
  /** Commands that it ran, those inside scripts included. */
  readonly commands: number;
  /** Processor time, s. */
  readonly cpu: number;
  /** Memory in use, bytes. */
  readonly memory: number;
}

/** Reads what the server says of itself. */
export async function usageOf(connection: Connection): Promise<Usage> {
  const info = await Promise.all(
    ["stats", "cpu", "memory"].map(async (section) => String(await connection.send(["INFO", section]))),
  );
  const text = info.join("\n");
  const read = (name: string): number => {
    const value = Number(new RegExp(`^${name}:([\\d.]+)`, "mu").exec(text)?.[1]);
    if (!Number.isFinite(value)) throw new TypeError(`The server does not say its ${name}.`);
    return value;
  };
  return {
    commands: read("total_commands_processed"),
    cpu: read("used_cpu_sys") + read("used_cpu_user"),
    memory: read("used_memory"),
  };
}
