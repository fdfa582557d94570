import { describe, expect, it } from "vitest";
import type { Connection, Connector, Reply } from "../clients/port.js";
import type { NodeAddress } from "../clients/server-place.js";
import { defineScript } from "../scripting/script.js";
import { checkedNodeAddress } from "./node-address.js";
import { clusterOf, sentinelsOf } from "./several-servers.js";
import { Supervisor } from "./supervisor.js";

const wanted = "It has to answer { host, port }: a text that is not empty, and a whole number from 1 to 65535.";

/** Whoever is asked, sentinel or node, knows one server, to which there is no connection. */
const asked = "redis://10.0.0.1:6379";
const answers: Record<string, Reply> = {
  CLUSTER: [[0, 16_383, [Buffer.from("a"), 7000]]],
  SENTINEL: [Buffer.from("a"), Buffer.from("7000")],
};
const connectTo = ({ target }: { target: string }): Connector => ({
  target,
  async connect() {
    if (!target.startsWith("redis://10.0.0.1:")) throw new Error(`connected to ${target}`);
    const connection: Connection = {
      send: async ([name]) => answers[String(name)] ?? null,
      subscribe: async () => {},
      unsubscribe: async () => {},
      onLost: () => {},
      destroy: () => {},
    };
    return connection;
  },
});

const beside = (nodeAddress: unknown) => ({
  username: undefined,
  password: undefined,
  connectTo,
  nodeAddress: nodeAddress as NodeAddress,
});

describe("A nodeAddress", () => {
  it.each([
    ["answers nothing", () => undefined, "nodeAddress answered undefined for a:7000."],
    ["answers a text", () => "b:7000", 'nodeAddress answered "b:7000" for a:7000.'],
    ["answers later", async () => ({ host: "b", port: 1 }), "nodeAddress answered a promise for a:7000."],
    ["fails later", () => Promise.reject(new Error("no")), "nodeAddress answered a promise for a:7000."],
    ["leaves out the port", () => ({ host: "b" }), "nodeAddress answered the port undefined for a:7000."],
    ["answers a port as a text", () => ({ host: "b", port: "1" }), 'nodeAddress answered the port "1" for a:7000.'],
    ["answers the port 0", () => ({ host: "b", port: 0 }), "nodeAddress answered the port 0 for a:7000."],
    ["answers a port too high", () => ({ host: "b", port: 65_536 }), "nodeAddress answered the port 65536 for a:7000."],
    ["answers half a port", () => ({ host: "b", port: 1.5 }), "nodeAddress answered the port 1.5 for a:7000."],
    ["answers an empty host", () => ({ host: "", port: 1 }), 'nodeAddress answered the host "" for a:7000.'],
    ["answers a number as host", () => ({ host: 5, port: 1 }), "nodeAddress answered the host 5 for a:7000."],
    [
      "throws",
      () => {
        throw new RangeError("unheard of");
      },
      "nodeAddress threw for a:7000 (RangeError: unheard of).",
    ],
  ])(
    "that %s fails calls at once as misconfigured, in a Cluster and with sentinels",
    async (_, nodeAddress, problem) => {
      const cluster = clusterOf([asked], beside(nodeAddress)).forKey?.("{q}:state");
      const sentinels = sentinelsOf("redis+sentinel://10.0.0.1/main", beside(nodeAddress));
      for (const connector of [cluster, sentinels]) {
        const supervisor = new Supervisor({ connector: connector ?? sentinels });
        const call = supervisor.evaluate(defineScript("any", "return {}"), [], [], { timeout: 600_000 });
        await expect(call).rejects.toMatchObject({ code: "misconfigured", message: `${problem} ${wanted}` });
        await supervisor.close();
      }
    },
  );

  it("that answers an address is taken at its word", () => {
    const nodeAddress = checkedNodeAddress((host, port) => ({ host: `${host}.example`, port: port + 1 }));
    expect(nodeAddress("a", 65_534)).toEqual({ host: "a.example", port: 65_535 });
  });
});
