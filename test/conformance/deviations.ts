/** What each engine does not keep, by the name of the case, with the reason. The page on promises lists it. */
export const deviations = {
  memory: {},
  redis: {},
} as const satisfies Record<string, Readonly<Record<string, string>>>;
