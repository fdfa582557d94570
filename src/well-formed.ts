const loneSurrogate = /\p{Surrogate}/u;

/**
 * Whether text has no half of a surrogate pair. UTF-8 has no bytes for one, so two ids that differ in nothing else would
 * become the same.
 */
export function isWellFormed(text: string): boolean {
  return !loneSurrogate.test(text);
}
