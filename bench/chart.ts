import type { Result } from "./results.js";
import { amount, headingOf } from "./table.js";

/** Lengths in px. */
const sizes = { width: 720, row: 26, bar: 16, names: 130, values: 90, heading: 34 };

/** Legible on white and on black, since a page may be either. */
const colours = { ours: "#2f81f7", others: "#8b949e", text: "#768390" };

/** A result as an SVG: a bar for each subject as long as its median, and a line from its least to its most. */
export function chartOf(result: Result): string {
  const subjects = Object.entries(result.subjects);
  const most = Math.max(...subjects.map(([, { max }]) => max), Number.MIN_VALUE);
  const room = sizes.width - sizes.names - sizes.values;
  const length = (value: number) => Math.round((10 * room * value) / most) / 10;
  const rows = subjects.map(([name, { median, min, max }], at) => {
    const middle = sizes.heading + at * sizes.row + sizes.row / 2;
    const fill = name === "punctual" ? colours.ours : colours.others;
    return [
      `<text x="${sizes.names - 8}" y="${middle + 4}" text-anchor="end">${escaped(name)}</text>`,
      `<rect x="${sizes.names}" y="${middle - sizes.bar / 2}" width="${length(median)}" height="${sizes.bar}" fill="${fill}"/>`,
      `<path d="M${sizes.names + length(min)} ${middle}H${sizes.names + length(max)}" stroke="${colours.text}"/>`,
      `<text x="${sizes.names + length(max) + 8}" y="${middle + 4}">${amount(median)}</text>`,
    ].join("\n");
  });
  const height = sizes.heading + subjects.length * sizes.row + 8;
  const heading = escaped(headingOf(result));
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${sizes.width}" height="${height}" viewBox="0 0 ${sizes.width} ${height}" role="img" font-family="sans-serif" font-size="13" fill="${colours.text}">
<title>${heading}</title>
<text x="0" y="18">${heading}</text>
${rows.join("\n")}
</svg>
`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
