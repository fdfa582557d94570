import type { NodeAddress } from "../clients/server-place.js";
import { PunctualError } from "../errors.js";
import { failureRecord } from "../failure-record.js";
import { quote } from "../quote.js";

const wanted = "It has to answer { host, port }: a text that is not empty, and a whole number from 1 to 65535.";

/**
 * The same, failing with `misconfigured` where it throws or answers what is no address. As a failure to connect it would be
 * tried again and again, and callers be told only when their time is over.
 */
export function checkedNodeAddress(nodeAddress: NodeAddress): NodeAddress {
  return (host, port) => {
    let place: unknown;
    try {
      place = nodeAddress(host, port);
    } catch (error) {
      const { name, message } = failureRecord(error);
      const problem = `nodeAddress threw for ${host}:${port} (${name}: ${message}).`;
      throw new PunctualError("misconfigured", `${problem} ${wanted}`, { cause: error });
    }
    const problem = problemOf(place);
    if (problem === undefined) return place as ReturnType<NodeAddress>;
    throw new PunctualError("misconfigured", `nodeAddress answered ${problem} for ${host}:${port}. ${wanted}`);
  };
}

function problemOf(place: unknown): string | undefined {
  if (typeof place !== "object" || place === null) return quote(place);
  if (place instanceof Promise) {
    // Nobody waits for it, so what it rejects with must not end the process.
    place.catch(() => {});
    return "a promise";
  }
  const { host, port }: { host?: unknown; port?: unknown } = place;
  if (typeof host !== "string" || host === "") return `the host ${quote(host)}`;
  const isPort = typeof port === "number" && Number.isInteger(port) && port >= 1 && port <= 65_535;
  return isPort ? undefined : `the port ${quote(port)}`;
}
