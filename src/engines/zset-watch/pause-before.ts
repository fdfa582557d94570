/** How many transactions in a row may fail before a pause: the first ones are lost to somebody who was just a little faster. */
const atOnce = 3;
/** The longest pause, ms. */
const longest = 32;

/**
 * How long to wait before the next attempt of a transaction that failed `failures` times in a row, ms. Random, since those that
 * failed together would fail together again; growing, since the more there are, the more room they need.
 */
export function pauseBefore(failures: number, random: () => number = Math.random): number {
  if (failures <= atOnce) return 0;
  return random() * Math.min(longest, 2 ** (failures - atOnce));
}
