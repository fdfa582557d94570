import type { Progress } from "./workload.js";

/** Where the bar is drawn; `process.stderr` is one. */
export interface Terminal {
  readonly isTTY?: boolean | undefined;
  write(text: string): unknown;
}

export interface ProgressBar {
  update(progress: Progress): void;
  /** Leaves the line, so that what follows starts on one of its own. Safe to call twice. */
  end(): void;
}

const width = 30;

/**
 * Draws how far a run is. On a terminal it is one line that is drawn over itself; elsewhere, in a log, one line at each
 * quarter and no control codes.
 */
export function progressBar(terminal: Terminal): ProgressBar {
  return terminal.isTTY === true ? redrawnLine(terminal) : quarterLines(terminal);
}

function redrawnLine(terminal: Terminal): ProgressBar {
  let drawn = "";
  return {
    update(progress) {
      const line = describe(progress);
      if (line === drawn) return;
      // Spaces wipe what is left of a longer line.
      terminal.write(`\r${line.padEnd(drawn.length)}`);
      drawn = line;
    },
    end() {
      if (drawn !== "") terminal.write("\n");
      drawn = "";
    },
  };
}

function quarterLines(terminal: Terminal): ProgressBar {
  let next = 0;
  return {
    update(progress) {
      const share = Math.min(progress.scheduled, progress.ended) / progress.messages;
      if (share < next) return;
      next = Math.floor(share * 4) / 4 + 0.25;
      terminal.write(`${describe(progress)}\n`);
    },
    end() {},
  };
}

function describe({ messages, scheduled, ended }: Progress): string {
  const share = messages === 0 ? 1 : ended / messages;
  const full = Math.round(share * width);
  const bar = "█".repeat(full) + "░".repeat(width - full);
  const percent = String(Math.floor(share * 100)).padStart(3);
  const state = scheduled < messages ? `${count(scheduled)} scheduled` : `${count(ended)} of ${count(messages)}`;
  return `${bar} ${percent} %  ${state}`;
}

function count(value: number): string {
  return value.toLocaleString("en");
}
