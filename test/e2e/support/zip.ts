import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { strToU8, zipSync } from "fflate";

/** Of every entry: fflate writes a local time, and the format knows none before. */
const FIRST_DAY = new Date(1980, 0, 1);
/** What `attrs` belongs to. */
const UNIX = 3;
/** A plain file that all may read, in the upper half as Unix has it. */
const READABLE = 0o100644 * 0x10000;

/** A ZIP archive of the given files, by path in the archive. Always the same bytes for the same files. */
export function zip(files: Readonly<Record<string, string | Uint8Array>>): Buffer {
  const sorted = Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1));
  const bytes = sorted.map(([path, content]): [string, Uint8Array] => [path, typeof content === "string" ? strToU8(content) : content]);
  return Buffer.from(zipSync(Object.fromEntries(bytes), { mtime: FIRST_DAY, os: UNIX, attrs: READABLE }));
}

/** The archive of a folder's files, or of one file under its own name. */
export function zipPath(path: string): Buffer {
  if (!statSync(path).isDirectory()) return zip({ [basename(path)]: readFileSync(path) });
  const names = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return zip(
    Object.fromEntries(
      names.map((entry) => [relative(path, join(entry.parentPath, entry.name)), readFileSync(join(entry.parentPath, entry.name))]),
    ),
  );
}
