/** What each engine does not keep, by the name of the case, with the reason. The page on promises lists it. */
export const deviations = {
  memory: {
    "Bounded redelivery: what a killed process held with a lease of 1 s is delivered by an idle one within 2 s":
      "all consumers of a store in memory live in one process, so none is ever killed alone",
  },
  redis: {},
} as const satisfies Record<string, Readonly<Record<string, string>>>;
