/** Cuts a stream of RESP2 or RESP3, in either direction, into whole requests or replies. */
export class RespFrames {
  #rest: Buffer = Buffer.alloc(0);

  /** The frames that are complete with this chunk. */
  push(chunk: Buffer): Buffer[] {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const frames: Buffer[] = [];
    let start = 0;
    for (;;) {
      const end = frameEnd(this.#rest, start);
      if (end === undefined) break;
      frames.push(this.#rest.subarray(start, end));
      start = end;
    }
    this.#rest = this.#rest.subarray(start);
    return frames;
  }
}

/** A frame as a value: byte strings, errors and simple strings as bytes, numbers as text, anything that holds others as an array. */
export type RespValue = Buffer | null | RespValue[];

export function respValue(frame: Buffer): RespValue {
  return valueAt(frame, 0)[0];
}

const cr = 0x0d;

function frameEnd(buffer: Buffer, start: number): number | undefined {
  const lineEnd = buffer.indexOf(cr, start);
  if (lineEnd === -1 || lineEnd + 1 >= buffer.length) return undefined;
  let end = lineEnd + 2;
  const { bytes, elements } = shape(buffer, start, lineEnd);
  if (bytes !== undefined) {
    end += bytes + 2;
    return end <= buffer.length ? end : undefined;
  }
  for (let left = elements; left > 0; left--) {
    const elementEnd = frameEnd(buffer, end);
    if (elementEnd === undefined) return undefined;
    end = elementEnd;
  }
  return end;
}

/** What follows the first line: so many bytes, or so many frames, or (0) nothing. */
function shape(buffer: Buffer, start: number, lineEnd: number): { bytes?: number; elements: number } {
  const kind = String.fromCharCode(buffer[start] ?? 0);
  if (!"$=!*~>%|".includes(kind)) return { elements: 0 };
  const count = Number(buffer.toString("latin1", start + 1, lineEnd));
  if ("$=!".includes(kind)) return count < 0 ? { elements: 0 } : { bytes: count, elements: 0 };
  return { elements: "%|".includes(kind) ? 2 * count : Math.max(count, 0) };
}

function valueAt(frame: Buffer, start: number): [RespValue, number] {
  const lineEnd = frame.indexOf(cr, start);
  const line = frame.subarray(start + 1, lineEnd);
  let end = lineEnd + 2;
  const kind = String.fromCharCode(frame[start] ?? 0);
  const { bytes, elements } = shape(frame, start, lineEnd);
  if (bytes !== undefined) return [frame.subarray(end, end + bytes), end + bytes + 2];
  if (kind === "_" || ("$*".includes(kind) && line.toString() === "-1")) return [null, end];
  if (!"*~>%|".includes(kind)) return [line, end];
  const values: RespValue[] = [];
  for (let left = elements; left > 0; left--) {
    const [value, valueEnd] = valueAt(frame, end);
    values.push(value);
    end = valueEnd;
  }
  return [values, end];
}
