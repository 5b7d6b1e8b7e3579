import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { strToU8, zipSync } from "fflate";

/** The date of every entry: the first that the ZIP format can express; fflate writes it as local time. */
const FIRST_DAY = new Date(1980, 0, 1);
/** The operating system of `attrs`. */
const UNIX = 3;
/** A regular file with mode 644; Unix modes are in the upper half. */
const READABLE = 0o100644 * 0x10000;

/** A ZIP archive of files by their path in the archive. Equal files give equal bytes. */
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
