import { expect, it } from "vitest";
import { clusterConnector } from "./cluster.js";
import { hashSlot } from "./hash-slot.js";
import { CommandFailure, type Connection, type Connector, type Reply } from "./port.js";
import { parseRedisUrl } from "./redis-url.js";

const key = "{punctual:orders}:state";
const never = new Promise<never>(() => {});
const moved = (to: string) => new CommandFailure("refused", `MOVED ${hashSlot(key)} ${to}:6379`, { code: "MOVED" });

/** Nodes of which the test says what each answers to a queue's command; all of them say that `a` serves every slot. */
function cluster(answers: Record<string, () => Reply | Error | Promise<Reply>>) {
  const asked: string[] = [];
  const connected: string[] = [];
  const losing: (() => void)[] = [];
  const connectTo = (host: string): Connector => ({
    target: host,
    async connect() {
      if (answers[host] === undefined) throw new CommandFailure("not-sent", `${host} is down`);
      const connection: Connection = {
        async send([name]) {
          if (name === "CLUSTER") {
            asked.push(host);
            return [[0, 16_383, [Buffer.from("a"), 6379]]];
          }
          connected.push(host);
          const reply = (await answers[host]?.()) ?? null;
          if (reply instanceof Error) throw reply;
          return reply;
        },
        subscribe: async () => {},
        unsubscribe: async () => {},
        onLost: (listener) => void losing.push(() => listener(new Error("the server ended the connection"))),
        destroy: () => {},
      };
      return connection;
    },
  });
  const connector = clusterConnector({
    nodes: [parseRedisUrl("redis://seed:6379")],
    connectTo: ({ endpoint }) => connectTo("host" in endpoint ? endpoint.host : ""),
  });
  const ofQueue = connector.forKey?.(key) ?? connector;
  return { connect: () => ofQueue.connect(200), asked, connected, lose: () => losing.forEach((lose) => lose()) };
}

const nothing = () => null;

it("Where a node says that a slot has moved to, the next connection goes, though all that are asked know no better", async () => {
  const { connect, connected } = cluster({ seed: nothing, a: () => moved("b"), b: nothing });
  await expect(connect()).rejects.toMatchObject({ code: "ELSEWHERE" });
  await connect();
  expect(connected).toEqual(["a", "b"]);
});

it("What was learned so outlives a map that is old, until a node cannot be reached there", async () => {
  const answers: Parameters<typeof cluster>[0] = { seed: nothing, a: () => moved("b"), b: nothing };
  const { connect, connected, lose } = cluster(answers);
  await expect(connect()).rejects.toMatchObject({ code: "ELSEWHERE" });
  await connect();
  delete answers["b"];
  answers["a"] = nothing;
  lose();
  await connect();
  expect(connected).toEqual(["a", "b", "a"]);
});

it("A connection that is lost after its node said that the slot has moved does not unlearn that", async () => {
  const answers: Parameters<typeof cluster>[0] = { seed: nothing, a: nothing, b: nothing };
  const { connect, connected, asked, lose } = cluster(answers);
  const connection = await connect();
  answers["a"] = () => moved("b");
  await expect(connection.send(["EVALSHA"])).rejects.toMatchObject({ code: "ELSEWHERE" });
  lose();
  await connect();
  expect(connected).toEqual(["a", "a", "b"]);
  expect(asked).toHaveLength(1);
});

it("Closing a connection that is no longer needed makes nobody ask anew", async () => {
  const { connect, asked } = cluster({ seed: nothing, a: nothing });
  (await connect()).destroy();
  await connect();
  expect(asked).toHaveLength(1);
});

it.each([
  ["was lost", (_: Connection, lose: () => void) => lose()],
  ["was given up because its node says nothing", (connection: Connection) => connection.destroy()],
])("When a connection %s, it is asked anew who serves the slot", async (_, end) => {
  const answers: Parameters<typeof cluster>[0] = { seed: nothing, a: nothing };
  const { connect, asked, lose } = cluster(answers);
  const connection = await connect();
  answers["a"] = () => never;
  void connection.send(["EVALSHA"]);
  answers["a"] = nothing;
  end(connection, lose);
  await connect();
  expect(asked).toHaveLength(2);
});

it("When a node takes a connection and says nothing until the time is over, it is asked anew", async () => {
  const answers: Parameters<typeof cluster>[0] = { seed: nothing, a: () => never };
  const { connect, asked } = cluster(answers);
  await expect(connect()).rejects.toThrow("did not answer within 200 ms");
  answers["a"] = nothing;
  await connect();
  expect(asked).toHaveLength(2);
});
