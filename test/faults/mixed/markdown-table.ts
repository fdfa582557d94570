/** What stands where there is nothing to say. */
const nothing = "–";

/** A table of a page, by the names of its rows and columns, in which cells can be set. */
export class MarkdownTable {
  readonly #corner: string;
  readonly #columns: string[];
  readonly #rows: Map<string, Map<string, string>>;

  /** Reads the first table in a text; one without any rows when there is none. */
  static read(text: string, corner: string): MarkdownTable {
    const lines = text.split("\n").filter((line) => line.startsWith("|"));
    const [titles = [], , ...rows] = lines.map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
    const table = new MarkdownTable(corner, titles.slice(1));
    for (const [name = "", ...cells] of rows) {
      for (const [place, cell] of cells.entries()) table.set(name, titles[place + 1] ?? "", cell);
    }
    return table;
  }

  private constructor(corner: string, columns: readonly string[]) {
    this.#corner = corner;
    this.#columns = [...columns];
    this.#rows = new Map();
  }

  set(row: string, column: string, value: string): void {
    if (!this.#columns.includes(column)) this.#columns.push(column);
    const cells = this.#rows.get(row) ?? new Map<string, string>();
    this.#rows.set(row, cells.set(column, value));
  }

  /** Empties a column, and takes out the rows that had nothing else. */
  clear(column: string): void {
    for (const [name, cells] of this.#rows) {
      cells.delete(column);
      if ([...cells.values()].every((value) => value === nothing)) this.#rows.delete(name);
    }
  }

  /** As the formatter would have it: names to the left, figures to the right. */
  text(): string {
    const rows = [...this.#rows].map(([name, cells]) => [
      name,
      ...this.#columns.map((column) => cells.get(column) ?? nothing),
    ]);
    const all = [[this.#corner, ...this.#columns], ...rows];
    const widths = [this.#corner, ...this.#columns].map((_, place) =>
      Math.max(3, ...all.map((row) => row[place]?.length ?? 0)),
    );
    const pad = (cell: string, place: number) =>
      place === 0 ? cell.padEnd(widths[place] ?? 0) : cell.padStart(widths[place] ?? 0);
    const rule = widths.map((width, place) => (place === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`));
    const [titles = [], ...body] = all.map((row) => row.map(pad));
    return [titles, rule, ...body].map((row) => `| ${row.join(" | ")} |`).join("\n");
  }
}
