import { closeSync, openSync, readSync } from "node:fs";

/** Most bytes of a file with manifests: a large cluster's objects, all in one List, are a few dozen MB. */
const MAX_TEXT_BYTES = 64 * 1024 * 1024;
const PIECE_BYTES = 1024 * 1024;

/**
 * Reads a file, or standard input for 0, up to a number of bytes: some files, such as /dev/zero, have no end. Throws an
 * error of one sentence for a longer one, and the error of the system for one that cannot be read.
 */
export function readBytes(path: string | 0, maxBytes: number): Buffer {
  const file = path === 0 ? 0 : openSync(path, "r");
  try {
    const pieces: Buffer[] = [];
    for (let length = 0; ; ) {
      const piece = Buffer.allocUnsafe(PIECE_BYTES);
      const read = readSync(file, piece, 0, PIECE_BYTES, null);
      if (read === 0) return Buffer.concat(pieces);
      length += read;
      if (length > maxBytes) throw new Error(`it is longer than ${maxBytes / 1024 / 1024} MB; give a smaller one`);
      pieces.push(piece.subarray(0, read));
    }
  } catch (error) {
    // A pipe whose writer has ended.
    if (path === 0 && (error as NodeJS.ErrnoException).code === "EOF") return Buffer.alloc(0);
    throw error;
  } finally {
    if (file !== 0) closeSync(file);
  }
}

/** Reads a file of text, or standard input for 0, as readBytes does. */
export function readText(path: string | 0): string {
  return readBytes(path, MAX_TEXT_BYTES).toString("utf8");
}
