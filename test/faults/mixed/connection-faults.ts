import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "../../../demo/seeded-random.js";
import { type FaultProxy, isCommand } from "../../support/fault-proxy.js";
import type { RequestFault } from "../../support/proxied-connection.js";
import { type Fault, fault, lasting, silence, untold } from "./fault.js";

/** How many requests one fault strikes. */
const strikes = 8;
/** How long a request is awaited that a fault is for, ms. When all are busy otherwise, it strikes the next one that comes. */
const patience = 3_000;
/** How long a request is held back, ms: longer than it may run. */
const heldFor = 4_000;

/** What can befall the connections of all that come through this proxy. */
export function connectionFaults(proxy: FaultProxy): Fault[] {
  const struck = (name: string, kind: RequestFault) =>
    fault(name, async (random) => {
      for (let n = 0; n < strikes; n++) {
        const { happened } = proxy.plan(kind, isCommand("EVALSHA"), 1 + Math.floor(random() * 10));
        await Promise.race([happened, sleep(patience)]);
      }
    });
  return [
    struck("cut before the request", "cut-before-request"),
    struck("cut before the reply", "cut-before-reply"),
    struck("cut inside the reply", "cut-inside-reply"),
    fault("request held back", async (random) => {
      const held = proxy.plan("hold", isCommand("EVALSHA"), 1 + Math.floor(random() * 10));
      await Promise.race([held.happened, sleep(patience)]);
      await sleep(heldFor);
      held.release();
    }),
    weather(proxy, "slow network", (random) => proxy.delay(20 + random() * 200)),
    weather(proxy, "one byte at a time", () => proxy.byteByByte()),
    silence(
      "connections refused",
      () => (proxy.refuse(), proxy.cut()),
      waiting,
      () => proxy.heal(),
    ),
    silence(
      "black hole",
      () => proxy.blackHole(),
      waiting,
      () => proxy.heal(),
      untold,
    ),
    fault("subscribers cut", async () => proxy.cut("SUBSCRIBE")),
  ];
}

const waiting = (random: Random) => sleep(lasting(random));

function weather(proxy: FaultProxy, name: string, begin: (random: Random) => void): Fault {
  return fault(name, async (random) => {
    begin(random);
    await sleep(500 + random() * 2_000);
    proxy.heal();
  });
}
