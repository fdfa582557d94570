/** The engines of punctual that keep messages in Redis as articles tell it, by the names of their folders. */
export const schemeNames = [
  "delayqueue",
  "key-expiry",
  "zset-list",
  "zset-remove",
  "zset-stream",
  "zset-watch",
] as const;

export type SchemeName = (typeof schemeNames)[number];
