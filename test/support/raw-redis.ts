import { createClient, RESP_TYPES } from "@redis/client";

/** A way for tests to speak to Redis past the code under test. Replies are bytes, numbers, nulls, and arrays of them. */
export interface RawRedis extends AsyncDisposable {
  /** Sends one command and gives its reply; rejects with the error reply. */
  command(...command: readonly (string | number | Uint8Array)[]): Promise<unknown>;
  /** The same, with every byte string of the reply as text. */
  text(...command: readonly (string | number | Uint8Array)[]): Promise<unknown>;
  close(): void;
}

/** Connects to `url`, which may be `redis://…` or `unix://…`. */
export async function rawRedis(url: string): Promise<RawRedis> {
  const client = createClient({ url, RESP: 2, disableClientInfo: true, socket: { reconnectStrategy: false } });
  // What goes wrong is told by the commands.
  client.on("error", () => {});
  await client.connect();
  const binary = client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer, [RESP_TYPES.SIMPLE_STRING]: Buffer });
  const command: RawRedis["command"] = (...words) =>
    binary.sendCommand(words.map((word) => (word instanceof Uint8Array ? Buffer.from(word) : String(word))));
  return {
    command,
    text: async (...words) => asText(await command(...words)),
    close: () => client.destroy(),
    async [Symbol.asyncDispose]() {
      client.destroy();
    },
  };
}

function asText(reply: unknown): unknown {
  if (Array.isArray(reply)) return reply.map(asText);
  return Buffer.isBuffer(reply) ? reply.toString() : reply;
}
