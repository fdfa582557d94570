import { afterAll, beforeAll, expect, it } from "vitest";
import { type ClusterNode, startClusterNode } from "../../test/support/topologies/cluster-node.js";
import { hashSlot } from "./hash-slot.js";

let node: ClusterNode;
beforeAll(async () => {
  node = await startClusterNode({});
});
afterAll(() => node.server.stop());

it.each([
  ["a key"],
  [""],
  ["{punctual:orders}:state"],
  ["{punctual:orders/17}:schedule"],
  ["{}:empty braces do not count"],
  ["{a}{b}: the first count"],
  ["{{a}}:x"],
  ["no end {a"],
  ["no begin a}"],
  ["}a{ the wrong way round"],
  ["x{tag}y"],
  ["{é😀}: bytes, not characters"],
])("the slot of %j is that of CLUSTER KEYSLOT", async (key) => {
  expect(hashSlot(key)).toBe(await node.ask("CLUSTER", "KEYSLOT", key));
});

it("the slots of a thousand keys are those of CLUSTER KEYSLOT", async () => {
  const keys = Array.from({ length: 1_000 }, (_, n) => `{${(n * 7919).toString(36)}}:${n}`);
  const slots = await Promise.all(keys.map((key) => node.ask("CLUSTER", "KEYSLOT", key)));
  expect(keys.map(hashSlot)).toEqual(slots);
  expect(new Set(slots).size).toBeGreaterThan(900);
});
