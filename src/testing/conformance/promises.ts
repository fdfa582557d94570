/** The number of a promise in the contract (`src/engine.ts`). */
export type PromiseNumber = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12 | 13 | 14 | 15;

/** The promises of the contract by number: the words with which the names of their conformance cases begin. */
export const promises = {
  1: "Never early",
  2: "At least once",
  3: "One lease at a time",
  4: "Idempotent schedule",
  5: "Bounded redelivery",
  6: "Nothing is dropped silently",
  7: "Order",
  8: "Cancel tells the truth",
  9: "Bounded server work",
  10: "It comes back",
  11: "Opaque payload",
  12: "One clock",
  13: "No orphans",
  14: "Pause is a pause",
  15: "Cheap when idle",
} as const satisfies Record<PromiseNumber, string>;
