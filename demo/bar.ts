const barWidth = 40;
const eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/** A bar in a field of 40 signs; `share` of it, from 0 to 1, is filled. One that is not empty is never drawn empty. */
export function bar(share: number): string {
  const units = share === 0 ? 0 : Math.max(1, Math.round(share * barWidth * 8));
  return ("█".repeat(Math.floor(units / 8)) + (eighths[units % 8] ?? "")).padEnd(barWidth);
}
