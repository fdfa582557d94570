import assert from "node:assert/strict";
import type { NewMessage, Receipt } from "../../engine.js";
import { hour, minute, second } from "./stage.js";
import type { Stage } from "./stage.js";

/** Everything that an id can be in when it is touched. */
export const situations = [
  "absent",
  "scheduled",
  "due",
  "leased",
  /** Its lease has ended, and no claim has come since. */
  "lease ended",
  /** The same, of the last attempt: it counts as buried. */
  "last lease ended",
  "dead",
  "acknowledged",
  "cancelled",
] as const;

export type Situation = (typeof situations)[number];

/** Brings a message into a situation, and gives the receipt of its last lease where there was one. */
export async function bring(
  stage: Stage,
  id: string,
  situation: Situation,
  options: Partial<Omit<NewMessage, "id">> = {},
): Promise<Receipt | undefined> {
  if (situation === "absent") return undefined;
  if (situation === "scheduled") {
    await stage.put(id, { due: { delay: hour }, ...options });
    return undefined;
  }
  const attempts = situation === "last lease ended" ? 1 : undefined;
  await stage.put(id, { ...options, attempts });
  if (situation === "due") return undefined;
  if (situation === "cancelled") {
    assert.deepEqual(await stage.queue.cancel([id]), ["cancelled"]);
    return undefined;
  }
  const ending = situation === "lease ended" || situation === "last lease ended";
  const claim = await stage.take({ lease: ending ? second : minute });
  assert.deepEqual(claim.ids, [id]);
  const [receipt] = claim.receipts;
  assert.ok(receipt !== undefined);
  if (ending) await stage.harness.elapse(second + 20);
  if (situation === "dead") {
    const error = { name: "Error", message: "no use" };
    assert.deepEqual(await stage.queue.bury([{ ...receipt, reason: "poison", error }]), ["settled"]);
  }
  if (situation === "acknowledged") assert.deepEqual(await stage.queue.acknowledge([receipt]), ["settled"]);
  return receipt;
}
