/** To three digits after the point, for figures that programs read. */
export function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}

/** A whole number for people. */
export function whole(value: number): string {
  return value.toLocaleString("en");
}
