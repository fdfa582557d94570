import { setTimeout as sleep } from "node:timers/promises";

/** How long consumers get to find out that there is nothing to do, ms: no subject tells when it has. */
const settling = 2_000;

/** Lets consumers that have just started come to rest, before what they do is counted. */
export async function letConsumersSettle(): Promise<void> {
  await sleep(settling);
}
