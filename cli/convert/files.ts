import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { listed } from "#core/scheduling/reasons/words.ts";
import type { Answer } from "#terminal/command.ts";
import { InputError } from "#terminal/input-error.ts";
import { convert } from "./convert.ts";
import { readSources } from "./input.ts";

/** What `cli convert` is asked for. */
export interface ConvertOptions {
  /** Files, folders, and "-" for standard input. */
  readonly paths: readonly string[];
  /** The folder to write to, file by file; standard output when absent. */
  readonly out?: string;
}

/**
 * Converts manifests to one stream of documents, or, with `out`, to files of the same names in that folder. The answer
 * is usable when the API server would accept every object of Karpenter's. Throws InputError.
 */
export function convertFiles({ paths, out }: ConvertOptions): Answer {
  if (paths.length === 0) throw new InputError("name the manifests to convert: files, folders, or - for standard input");
  const { files, messages, isValid: isUsable } = convert(readSources(paths));
  if (out === undefined) return { output: joined(files.map(({ text }) => text)), messages, isUsable };
  const names = files.map(({ relativeName }) => relativeName.replace(/\.json$/, ".yaml"));
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined)
    throw new InputError(`two of the files would be ${join(out, twice)}; convert them one after another, into folders of their own`);
  checkEmpty(out);
  for (const [i, { text }] of files.entries()) {
    const path = join(out, names[i] ?? "");
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  return { output: names.map((name) => `${join(out, name)}\n`).join(""), messages, isUsable };
}

/** Old files beside the converted ones would be applied with them. Throws InputError. */
function checkEmpty(folder: string): void {
  if (!existsSync(folder)) return;
  if (!statSync(folder).isDirectory()) throw new InputError(`${folder} is a file; name an empty or a new folder with --out`);
  const names = readdirSync(folder).sort();
  if (names.length > 0)
    throw new InputError(`${folder} is not empty, it holds ${listed(names, 3)}; name an empty or a new folder with --out`);
}

/** Several files as one stream of documents. */
function joined(texts: readonly string[]): string {
  const ended = texts.filter((text) => text.trim() !== "").map((text) => (text.endsWith("\n") ? text : `${text}\n`));
  return ended.map((text, i) => (i > 0 && !text.startsWith("---") ? `---\n${text}` : text)).join("");
}
