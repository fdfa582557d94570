import type { Random } from "../demo/seeded-random.js";
import type { Payload } from "./harness.js";

/** The size of a payload where nothing else is said, bytes. */
export const usualSize = 94;

/** What JSON puts around the three values of a payload, with their names. */
const frame = JSON.stringify({ number: 0, dueAt: 0, text: "" }).length - 2;

/** A payload that is `size` bytes of JSON, or as many as number and due time alone take. */
export function payloadOf(number: number, dueAt: number, size = usualSize): Payload {
  const left = size - frame - String(number).length - String(dueAt).length;
  return { number, dueAt, text: "x".repeat(Math.max(0, left)) };
}

/** Payloads numbered from 0, due at random within `spread` ms from `from` on. */
export function randomPayloads(
  count: number,
  due: { readonly from: number; readonly spread: number; readonly random: Random; readonly size?: number },
): Payload[] {
  return Array.from({ length: count }, (_, number) =>
    payloadOf(number, Math.ceil(due.from + due.random() * due.spread), due.size),
  );
}
