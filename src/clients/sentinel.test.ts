import { expect, it } from "vitest";
import { CommandFailure, type Connection, type Connector, type Reply } from "./port.js";
import type { RedisAddress } from "./redis-url.js";
import { sentinelConnector } from "./sentinel.js";
import { parseSentinelUrl } from "./sentinel-url.js";

/** What each server answers, by host; one that is not there cannot be connected to. */
type Answers = Record<string, () => Reply | Error>;

/** Sentinels and servers of which the test says what they answer, and through which it publishes. */
function world(url: string, answers: Answers) {
  const connected: RedisAddress[] = [];
  const heard: ((message: Buffer) => void)[] = [];
  const lost: string[] = [];
  let open = 0;
  const connectTo = (address: RedisAddress): Connector => ({
    target: address.target,
    async connect() {
      const host = "host" in address.endpoint ? address.endpoint.host : "";
      const answer = answers[host];
      if (answer === undefined) throw new CommandFailure("not-sent", `${host} is down`);
      connected.push(address);
      open++;
      const connection: Connection = {
        async send() {
          const reply = answer();
          if (reply instanceof Error) throw reply;
          return reply;
        },
        async subscribe(_, onMessage) {
          heard.push(onMessage);
        },
        unsubscribe: async () => {},
        onLost: () => {},
        destroy: () => void open--,
      };
      return connection;
    },
  });
  const connector = sentinelConnector({ ...parseSentinelUrl(url), connectTo });
  return {
    connect: async () => {
      const connection = await connector.connect(1_000);
      connection.onLost(({ message }) => lost.push(message));
      return connection;
    },
    publish: (message: string) => heard.forEach((hear) => hear(Buffer.from(message))),
    subscriptions: () => heard.length,
    hosts: () => connected.map(({ endpoint }) => ("host" in endpoint ? endpoint.host : "")),
    connected,
    lost,
    open: () => open,
  };
}

const names = (host: string) => () => [Buffer.from(host), Buffer.from("6379")];
const primary = () => [Buffer.from("master"), 0, []];
const replica = () => [Buffer.from("slave"), Buffer.from("a"), 6379];
const url = "redis+sentinel://ada:pw@s1,s2/main/3?sentinelPassword=spw";

it("The primary is where a sentinel says, with a login of its own", async () => {
  const { connect, connected } = world(url, { s1: names("a"), a: primary });
  await connect();
  expect(connected[0]).toMatchObject({ target: "redis://s1:26379", password: "spw", username: undefined, database: 0 });
  expect(connected[1]).toMatchObject({ target: "redis://a:6379", username: "ada", password: "pw", database: 3 });
});

it("A sentinel that is down, or does not know the primary, is passed over", async () => {
  const { connect, hosts } = world(url, { s1: () => null, s2: names("a"), a: primary });
  await connect();
  expect(hosts()).toEqual(expect.arrayContaining(["s1", "s2", "a"]));
  const down = world(url, { s2: names("a"), a: primary });
  await down.connect();
  expect(down.hosts()).toContain("a");
});

it("A server that is a replica is not taken, and another sentinel is asked first the next time", async () => {
  const { connect, hosts, open } = world(url, { s1: names("b"), s2: names("a"), a: primary, b: replica });
  await expect(connect()).rejects.toMatchObject({
    outcome: "not-sent",
    message: "b:6379, which the sentinels name as the primary, says that it is none",
  });
  expect(open()).toBe(0);
  await connect();
  expect(hosts().slice(2)).toEqual(expect.arrayContaining(["s2", "a"]));
});

it("A user who may not ask for the role is let through", async () => {
  const denied = new CommandFailure("refused", "NOPERM no permissions", { code: "NOPERM" });
  const { connect, hosts } = world(url, { s1: names("a"), a: () => denied });
  await connect();
  expect(hosts()).toContain("a");
});

it("When a sentinel says that another is the primary, the connections to the old one are lost, and no other", async () => {
  const answers: Answers = { s1: names("a"), a: primary, b: primary };
  const { connect, publish, lost, subscriptions } = world(url, answers);
  await connect();
  await expect.poll(subscriptions).toBe(1);
  publish("another c 6379 d 6379");
  expect(lost).toEqual([]);
  publish("main a 6379 b 6379");
  expect(lost).toEqual(["the primary is b:6379 now, by the word of a sentinel"]);
});

it("A sentinel that has not heard of it yet is not believed, unless no other one has either", async () => {
  const answers: Answers = { s1: names("a"), s2: names("a"), a: primary, b: primary };
  const { connect, publish, hosts, subscriptions } = world(url, answers);
  const before = await connect();
  await expect.poll(subscriptions).toBe(2);
  publish("main a 6379 b 6379");
  before.destroy();
  answers["s2"] = names("b");
  await connect();
  expect(hosts().at(-1)).not.toBe("a");
  expect(hosts()).toContain("b");
  // It became the primary again, and that was not heard.
  answers["s1"] = answers["s2"] = names("a");
  await expect(connect()).rejects.toThrow("a:6379 was the primary, and is to be replaced");
  await connect();
});

it("When the last connection has gone, nobody listens any more", async () => {
  const { connect, open } = world(url, { s1: names("a"), s2: names("a"), a: primary });
  const [one, other] = [await connect(), await connect()];
  await expect.poll(open).toBe(4);
  one.destroy();
  expect(open()).toBe(3);
  other.destroy();
  expect(open()).toBe(0);
});
