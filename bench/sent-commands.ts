import { once } from "node:events";
import { connect } from "node:net";

/** Counts what clients send, from when it is opened. */
export interface SentCommands {
  /** Commands so far, without those inside scripts, and without INFO, with which we ask. */
  count(): number;
  close(): void;
}

/** A line of MONITOR: the time, the database and who sent the command, which is `lua` for those inside scripts; the command. */
const sent = /^\+\d+\.\d+ \[\d+ (?!lua\])[^\]]+\] (?!"INFO"$)/u;

/**
 * The counters of Redis do not tell apart what clients send and what scripts run, so it watches. That slows the server down and
 * fills its network: nothing else can be measured meanwhile.
 */
export async function countSentCommands(url: string): Promise<SentCommands> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.setEncoding("latin1");
  let [count, rest] = [0, ""];
  socket.on("data", (text) => {
    const lines = (rest + String(text)).split("\r\n");
    rest = lines.pop() ?? "";
    count += lines.filter((line) => sent.test(line)).length;
  });
  socket.write("MONITOR\r\n");
  // Its answer: what is sent from here on is seen.
  await once(socket, "data");
  return { count: () => count, close: () => socket.destroy() };
}
