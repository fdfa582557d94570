import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { expect, it } from "vitest";
import { connectProblem } from "./connect-advice.js";
import { nodeRedis } from "./node-redis.js";
import { parseRedisUrl } from "./redis-url.js";

async function portOf(server: Server): Promise<number> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

async function failureOf(url: string): Promise<unknown> {
  try {
    (await nodeRedis({ url }).connect(400)).destroy();
  } catch (error) {
    return error;
  }
  return undefined;
}

it.each<[what: string, scheme: string, onConnection: ((socket: Socket) => void) | "closed", text: string]>([
  [
    "a port on which nothing listens",
    "redis",
    "closed",
    "nothing listens there. Is Redis running, and is the port right? (ECONNREFUSED)",
  ],
  [
    "a server that says nothing",
    "redis",
    () => {},
    "no answer within 400 ms. Is it a Redis that listens there, and does nothing between keep it from answering?",
  ],
  [
    "a server that hangs up",
    "redis",
    (socket) => socket.destroy(),
    "it ended the connection at once. Is it a Redis that listens there? With TLS the URL starts with rediss:// (Socket closed unexpectedly)",
  ],
  [
    "TLS on a port that does not answer it",
    "rediss",
    () => {},
    "no answer within 400 ms. Does that port speak TLS? Without it the URL starts with redis:// instead of rediss://",
  ],
  [
    "TLS on a port that hangs up",
    "rediss",
    (socket) => socket.destroy(),
    "no TLS was agreed on. Does that port speak TLS? Without it the URL starts with redis:// instead of rediss:// (ECONNRESET)",
  ],
  [
    "TLS on a port that answers in plain text",
    "rediss",
    (socket) => socket.end("-ERR Protocol error\r\n"),
    "no TLS was agreed on. Does that port speak TLS? Without it the URL starts with redis:// instead of rediss:// (ERR_SSL_WRONG_VERSION_NUMBER)",
  ],
])("%s is told with what to do, and without the address", async (_, scheme, onConnection, text) => {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    if (onConnection !== "closed") onConnection(socket);
  });
  const port = await portOf(server);
  if (onConnection === "closed") server.close();
  const failure = await failureOf(`${scheme}://127.0.0.1:${port}`);
  server.close();
  expect(failure).toMatchObject({ name: "CommandFailure", outcome: "not-sent", message: text });
});

it("a socket that is not there is told with what to do", async () => {
  expect(await failureOf("unix:///nowhere/redis.sock")).toMatchObject({
    message: "there is no such socket. Is Redis running, and is the path right? (ENOENT)",
    cause: { code: "ENOENT" },
  });
});

it.each([
  ["ENOTFOUND", "no address is known for this host. Is its name right? (ENOTFOUND)"],
  ["EAI_AGAIN", "no address is known for this host. Is its name right? (EAI_AGAIN)"],
  ["EHOSTUNREACH", "no way leads there. Is the address right, and is the network up? (EHOSTUNREACH)"],
  ["EACCES", "this user may not use it. Has the socket the right permissions? (EACCES)"],
  [
    "DEPTH_ZERO_SELF_SIGNED_CERT",
    "its certificate comes from nobody who is trusted. Its authority can be given as tls: { ca } (DEPTH_ZERO_SELF_SIGNED_CERT)",
  ],
  ["ESOMETHING", "as the system says"],
])("%s is told as: %s", (code, text) => {
  const error = Object.assign(new Error("as the system says"), { code });
  expect(connectProblem(error, parseRedisUrl("redis://localhost"))).toBe(text);
});
