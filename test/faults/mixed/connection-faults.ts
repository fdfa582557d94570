import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "../../../demo/seeded-random.js";
import { type FaultProxy, isCommand, type PlannedFault } from "../../support/fault-proxy.js";
import type { RequestFault } from "../../support/proxied-connection.js";
import { type Fault, fault, silence, untold } from "./fault.js";

/** How many requests one fault strikes. */
const strikes = 8;
/** How long a request is awaited that a fault is for, ms. When all are busy otherwise, it strikes none. */
const patience = 3_000;
/** How long a request is held back, ms: longer than it may run. */
const heldFor = 4_000;

/** The ways to the servers of a run. */
export interface Ways {
  /** The proxies before all servers. */
  readonly all: readonly FaultProxy[];
  /** The proxy before a server that has the queue now, or a part of it. */
  one(random: Random): Promise<FaultProxy>;
}

/**
 * What can befall the connections of producers and consumers. What strikes single calls strikes them wherever they go; all else
 * befalls the ways to all servers, or that to one of them.
 */
export function connectionFaults(ways: Ways): Fault[] {
  /** Proxies to which the same is done. */
  const some = async (random: Random) => (random() < 0.5 ? ways.all : [await ways.one(random)]);
  const begun = (begin: (proxy: FaultProxy) => void) => async (random: Random) => {
    const proxies = await some(random);
    proxies.forEach(begin);
    return proxies;
  };
  const heal = (proxies: readonly FaultProxy[]) => proxies.forEach((proxy) => proxy.heal());
  const struck = (name: string, kind: RequestFault) =>
    fault(name, async (random) => {
      for (let n = 0; n < strikes; n++) await strikeOne(ways.all, kind, random);
    });
  const weather = (name: string, begin: (proxy: FaultProxy, random: Random) => void) =>
    fault(name, async (random) => {
      const proxies = await some(random);
      for (const proxy of proxies) begin(proxy, random);
      await sleep(500 + random() * 2_000);
      heal(proxies);
    });
  return [
    struck("cut before the request", "cut-before-request"),
    struck("cut before the reply", "cut-before-reply"),
    struck("cut inside the reply", "cut-inside-reply"),
    fault("request held back", async (random) => {
      const held = await strikeOne(ways.all, "hold", random);
      await sleep(heldFor);
      for (const one of held) one.release();
    }),
    weather("slow network", (proxy, random) => proxy.delay(20 + random() * 200)),
    weather("one byte at a time", (proxy) => proxy.byteByByte()),
    silence(
      "connections refused",
      begun((proxy) => (proxy.refuse(), proxy.cut())),
      heal,
    ),
    silence(
      "black hole",
      begun((proxy) => proxy.blackHole()),
      heal,
      untold,
    ),
    fault("subscribers cut", async (random) => {
      // In a Cluster consumers hear of nearer messages by SSUBSCRIBE.
      for (const proxy of await some(random)) for (const command of ["SUBSCRIBE", "SSUBSCRIBE"]) proxy.cut(command);
    }),
  ];
}

/** Strikes one of the next calls, to whichever server it goes. */
async function strikeOne(
  proxies: readonly FaultProxy[],
  kind: RequestFault,
  random: Random,
): Promise<readonly PlannedFault[]> {
  const nth = 1 + Math.floor(random() * 10);
  const planned = proxies.map((proxy) => proxy.plan(kind, isCommand("EVALSHA"), nth));
  await Promise.race([...planned.map(({ happened }) => happened), sleep(patience)]);
  for (const one of planned) one.withdraw();
  return planned;
}
