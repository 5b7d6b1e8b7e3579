import { closeSync, existsSync, fstatSync, openSync, readFileSync, readSync } from "node:fs";

/** A log with one record a line, which another process writes. */
export interface GrowingLog {
  /** Lines written since a moment (ms since the epoch), oldest first; some older lines may precede them. */
  readonly linesSince: (from: number) => readonly string[];
}

const NEWLINE = "\n".charCodeAt(0);

/**
 * Reads from where the file ended at the last reading before the moment. Reading the whole log would take longer with
 * every story, and polling it would block this process, which also serves the fake EC2.
 */
export function growingLog(path: string): GrowingLog {
  const readings: { readonly at: number; readonly end: number }[] = [];
  return {
    linesSince: (from) => {
      const start = readings.findLast(({ at }) => at <= from)?.end ?? 0;
      const bytes = bytesFrom(path, start);
      const whole = bytes.subarray(0, bytes.lastIndexOf(NEWLINE) + 1);
      // Records of later times are not written yet; records of the current millisecond may be.
      readings.push({ at: Date.now() + 1, end: start + whole.length });
      return linesOf(whole.toString("utf8"));
    },
  };
}

/** The complete lines of a file that another process writes; empty when the file does not exist yet. */
export function wholeLines(path: string): readonly string[] {
  const text = existsSync(path) ? readFileSync(path, "utf8") : "";
  return linesOf(text.slice(0, text.lastIndexOf("\n") + 1));
}

const linesOf = (text: string): readonly string[] => text.split("\n").filter((line) => line !== "");

function bytesFrom(path: string, start: number): Buffer {
  if (!existsSync(path)) return Buffer.alloc(0);
  const file = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(Math.max(fstatSync(file).size - start, 0));
    let read = 0;
    for (let size = -1; size !== 0 && read < bytes.length; read += size)
      size = readSync(file, bytes, read, bytes.length - read, start + read);
    return bytes.subarray(0, read);
  } finally {
    closeSync(file);
  }
}
