import type { Result } from "./results.js";
import { subjects as everySubject } from "./subjects.js";
import { amount, headingOf } from "./table.js";

/** Lengths in px. */
const sizes = { width: 720, row: 28, bar: 16, names: 130, values: 84, heading: 38, axis: 44 };

/** Ticks of the axis at most, besides 0. */
const mostTicks = 5;

/** An image in a page is its own document: it learns from the browser whether people read dark on light or light on dark. */
const style = `<style>
text { fill: #1f2328 }
.muted { fill: #59636e }
.grid { stroke: #d1d9e0 }
.range { stroke: #1f2328; stroke-width: 1.5 }
.punctual { fill: #0969da }
.peer { fill: #818b98 }
.scheme { fill: #b6bfca }
.limit { fill: none; stroke: #818b98; stroke-dasharray: 4 3 }
@media (prefers-color-scheme: dark) {
text { fill: #f0f6fc }
.muted { fill: #9198a1 }
.grid { stroke: #3d444d }
.range { stroke: #f0f6fc }
.punctual { fill: #4493f8 }
.scheme { fill: #545d68 }
}
</style>`;

/** A result as an SVG: a bar for each subject as long as its median, and a line from its least to its most. */
export function chartOf(result: Result): string {
  const subjects = Object.entries(result.subjects);
  const most = Math.max(...subjects.map(([, { max }]) => max), Number.MIN_VALUE);
  const room = sizes.width - sizes.names - sizes.values;
  const foot = sizes.heading + subjects.length * sizes.row;
  const x = (value: number) => sizes.names + Math.round((10 * room * value) / most) / 10;
  const grid = ticksUpTo(most).map(
    (tick) =>
      `<path class="grid" d="M${x(tick)} ${sizes.heading}V${foot}"/>\n` +
      `<text class="muted" x="${x(tick)}" y="${foot + 16}" text-anchor="middle">${amount(tick)}</text>`,
  );
  const rows = subjects.map(([name, { median, min, max }], at) => {
    const middle = sizes.heading + at * sizes.row + sizes.row / 2;
    return [
      `<text x="${sizes.names - 8}" y="${middle + 4}" text-anchor="end">${escaped(name)}</text>`,
      `<rect class="${kindOf(name)}" x="${sizes.names}" y="${middle - sizes.bar / 2}" width="${round(x(median) - sizes.names)}" height="${sizes.bar}"/>`,
      `<path class="range" d="M${x(min)} ${middle}H${x(max)}"/>`,
      `<text x="${x(max) + 8}" y="${middle + 4}">${amount(median)}</text>`,
    ].join("\n");
  });
  const height = foot + sizes.axis;
  const heading = escaped(headingOf(result));
  const { name, unit, better } = result.figure;
  const measured = name === "rate" ? unit : `${name}, ${unit}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${sizes.width}" height="${height}" viewBox="0 0 ${sizes.width} ${height}" role="img" font-family="system-ui, sans-serif" font-size="13">
<title>${heading}</title>
${style}
<text x="0" y="18">${escaped(result.title)}</text>
${grid.join("\n")}
${rows.join("\n")}
<text class="muted" x="${sizes.names + room / 2}" y="${foot + 36}" text-anchor="middle">${escaped(measured)}: ${better} is better</text>
</svg>
`;
}

/** Round numbers from 0 on, as far apart that there are few: 1, 2 or 5 times a power of ten. */
function ticksUpTo(most: number): number[] {
  const power = 10 ** Math.floor(Math.log10(most / mostTicks));
  const step = [1, 2, 5, 10].map((times) => times * power).find((one) => most / one <= mostTicks) ?? most;
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, at) => Number((at * step).toPrecision(12)));
}

/** Results of old may be of a subject that there is no more. */
function kindOf(name: string): string {
  return everySubject.find((subject) => subject.name === name)?.kind ?? "peer";
}

function round(value: number): number {
  return Math.round(10 * value) / 10;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
