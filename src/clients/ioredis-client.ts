import type { Duplex } from "node:stream";

/** The part of a client of ioredis that is used here; the same in versions 5 and 6. */
export interface IORedisClient {
  readonly status: string;
  /** There once the socket is being made. */
  readonly stream: Duplex | undefined;
  /** What was agreed on with the server; version 5 knows RESP2 only, and does not say so. */
  readonly condition: object | null;
  connect(): Promise<unknown>;
  disconnect(): void;
  callBuffer(command: string, args: (string | Buffer)[]): Promise<unknown>;
  subscribe(channel: string): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
  ssubscribe(channel: string): Promise<unknown>;
  sunsubscribe(channel: string): Promise<unknown>;
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "moved", listener: () => void): unknown;
  on(event: "messageBuffer" | "smessageBuffer", listener: (channel: Buffer, message: Buffer) => void): unknown;
}

/** Whether commands and what is published come over one connection. */
export const speaksResp3 = ({ condition }: IORedisClient): boolean =>
  condition !== null && "protocol" in condition && condition.protocol === 3;

/** The library would end the socket in good order and give the server 2 s to agree. */
export function closeAtOnce(client: IORedisClient): void {
  client.disconnect();
  client.stream?.destroy();
}
