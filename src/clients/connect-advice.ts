import type { RedisAddress } from "./redis-url.js";

/** Why a connection could not be made, with what to do about it where that is known, for an error text. */
export function connectProblem(error: Error, address: RedisAddress): string {
  const code = "code" in error ? String(error.code) : "";
  const advice = adviceOn(code, error.message, address);
  return advice === undefined ? textOf(error) : `${advice} (${code || textOf(error)})`;
}

const textOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  // A host with several addresses fails with one error for each of them and no text of its own.
  if (error instanceof AggregateError && error.message === "") return error.errors.map(textOf).join("; ");
  return error.message;
};

/** The same for a server that says nothing. */
export function silenceProblem({ endpoint }: RedisAddress, waited: number): string {
  const problem = `no answer within ${waited} ms`;
  if ("path" in endpoint) return `${problem}. Is it a Redis that listens there?`;
  if (endpoint.tls)
    return `${problem}. Does that port speak TLS? Without it the URL starts with redis:// instead of rediss://`;
  return `${problem}. Is it a Redis that listens there, and does nothing between keep it from answering?`;
}

function adviceOn(code: string, message: string, { endpoint }: RedisAddress): string | undefined {
  const isSocket = "path" in endpoint;
  switch (code) {
    case "ECONNREFUSED":
      return `nothing listens there. Is Redis running, and is the ${isSocket ? "path" : "port"} right?`;
    case "ENOENT":
      return "there is no such socket. Is Redis running, and is the path right?";
    case "EACCES":
      return "this user may not use it. Has the socket the right permissions?";
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return "no address is known for this host. Is its name right?";
    case "EHOSTUNREACH":
    case "ENETUNREACH":
      return "no way leads there. Is the address right, and is the network up?";
    case "DEPTH_ZERO_SELF_SIGNED_CERT":
    case "SELF_SIGNED_CERT_IN_CHAIN":
    case "UNABLE_TO_VERIFY_LEAF_SIGNATURE":
    case "UNABLE_TO_GET_ISSUER_CERT_LOCALLY":
      return "its certificate comes from nobody who is trusted. Its authority can be given as tls: { ca }";
  }
  if (isSocket) return undefined;
  if (endpoint.tls) {
    return /TLS connection|wrong version number|packet length/.test(`${code} ${message}`)
      ? "no TLS was agreed on. Does that port speak TLS? Without it the URL starts with redis:// instead of rediss://"
      : undefined;
  }
  // What a port that speaks TLS does with plain text.
  return /ECONNRESET|EPIPE|[Cc]losed unexpectedly/.test(`${code} ${message}`)
    ? "it ended the connection at once. Is it a Redis that listens there? With TLS the URL starts with rediss://"
    : undefined;
}
