import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { directEvaluator } from "../../../test/redis-engine/direct-evaluator.js";
import { withRedis } from "../../../test/support/with-redis.js";
import { nodeRedis } from "../../clients/node-redis.js";
import type { Connection } from "../../clients/port.js";
import { encodeMember } from "../member.js";
import { memberKeys } from "../member-keys.js";
import { readDue, type ReadRequest } from "./read.js";

const redis = withRedis();
const keys = memberKeys("{p:q}:scheme");
let connection: Connection;
beforeAll(async () => {
  connection = await nodeRedis({ url: redis.url }).connect(1_000);
});
afterAll(() => connection.destroy());
afterEach(() => redis.raw.command("FLUSHALL"));

/** Stores messages, one a ms, of which the last few are not due for an hour. */
async function store(count: number, { future = 0, size = 1 } = {}) {
  const [seconds] = (await redis.raw.text("TIME")) as string[];
  const start = (Number(seconds) - 60) * 1_000;
  for (let index = 0; index < count; index++) {
    const member = encodeMember({
      id: String(index),
      payload: Buffer.alloc(size),
      due: { delay: 0 },
      onDuplicate: "keep",
    });
    const due = start + index + (index < count - future ? 0 : 3_600_000);
    await redis.raw.command("ZADD", keys.schedule, due, member);
  }
}

async function read(request: Partial<ReadRequest>) {
  const whole = { limit: 3, bytes: 1_000, largest: 50, ...request };
  const answer = await readDue(directEvaluator(connection), keys, whole);
  return [answer.read.map(({ member }) => member.id).join(" "), answer.more];
}

it("A read gives the first that are due, says whether there may be more, and removes nothing", async () => {
  await store(6, { future: 2 });
  expect(await read({})).toEqual(["0 1 2", true]);
  expect(await read({ limit: 4 })).toEqual(["0 1 2 3", true]);
  expect(await read({ limit: 5 })).toEqual(["0 1 2 3", false]);
});

it("A read begins where it is told to among those that are due, and gives as many from there", async () => {
  await store(12, { future: 2 });
  expect(await read({ skip: 1 })).toEqual(["7 8 9", true]);
  expect(await read({ skip: 0.5 })).toEqual(["3 4 5", true]);
  expect(await read({ skip: 0.5, limit: 20, bytes: 10_000 })).toEqual(["0 1 2 3 4 5 6 7 8 9", false]);
  await redis.raw.command("FLUSHALL");
  expect(await read({ skip: 0.5 })).toEqual(["", false]);
});

it("A read gives as many as fit if each were as large as the largest, and one in any case", async () => {
  await store(5);
  expect(await read({ bytes: 100 })).toEqual(["0 1", true]);
  expect(await read({ bytes: 10 })).toEqual(["0", true]);
  await redis.raw.command("HSET", keys.state, "biggest", 500);
  expect(await read({})).toEqual(["0 1", true]);
  await redis.raw.command("DEL", keys.state);
  expect(await read({ largest: 0 })).toEqual(["0", true]);
});
