import { clusterConnector } from "../clients/cluster.js";
import type { Connector } from "../clients/port.js";
import { addressOf, type RedisAddress } from "../clients/redis-url.js";
import { sentinelConnector } from "../clients/sentinel.js";
import { parseSentinelUrl } from "../clients/sentinel-url.js";
import type { NodeAddress } from "../clients/server-place.js";
import { invalidArgument } from "../invalid-argument.js";
import { checkedNodeAddress } from "./node-address.js";

/** What is said beside the addresses of servers of which the right one has to be found. */
interface Beside {
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly connectTo: (address: RedisAddress) => Connector;
  readonly nodeAddress: NodeAddress | undefined;
}

/** Reads the URL of sentinels. Fails with `invalid-argument`, without showing what may hold a password. */
export function sentinelsOf(url: string, { username, password, connectTo, nodeAddress }: Beside): Connector {
  const { primary, ...sentinels } = parseSentinelUrl(url);
  const login = { username: username ?? primary.username, password: password ?? primary.password };
  return sentinelConnector({
    ...sentinels,
    primary: { ...primary, ...login },
    connectTo,
    nodeAddress: translation(nodeAddress),
  });
}

const acceptedNodes = 'a list of URLs such as ["redis://10.0.0.1:6379", "redis://10.0.0.2:6379"]';

/** Reads the URLs of nodes of a Cluster. Fails likewise: what is given in another form may hold a password, too. */
export function clusterOf(nodes: unknown, { username, password, connectTo, nodeAddress }: Beside): Connector {
  if (!Array.isArray(nodes)) throw invalidArgument("nodes", "nodes is no list", acceptedNodes);
  const addresses = nodes.map((url: unknown) => {
    if (typeof url !== "string") throw invalidArgument("nodes", "a node is no text", acceptedNodes);
    const address = addressOf({ url, username, password });
    if ("path" in address.endpoint) throw invalidArgument("nodes", "a node is a unix socket", acceptedNodes);
    if (address.database !== 0)
      throw invalidArgument(
        "nodes",
        `a node has the database ${address.database}`,
        "none or 0: a Cluster has one database",
      );
    return address;
  });
  const [first, ...others] = addresses;
  if (first === undefined) throw invalidArgument("nodes", "nodes is an empty list", acceptedNodes);
  return clusterConnector({ nodes: [first, ...others], connectTo, nodeAddress: translation(nodeAddress) });
}

/** What a program without types may hand over is found before it is called. */
function translation(nodeAddress: NodeAddress | undefined): NodeAddress | undefined {
  if (nodeAddress === undefined) return undefined;
  if (typeof nodeAddress === "function") return checkedNodeAddress(nodeAddress);
  throw invalidArgument("nodeAddress", "nodeAddress is no function", "a function (host, port) => ({ host, port })");
}
