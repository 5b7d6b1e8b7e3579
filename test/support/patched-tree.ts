import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { PRODUCT_FOLDERS } from "./folders.ts";

/** One change of a source file: `find` stands in it exactly once. */
export interface Edit {
  /** From the project's root. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

const ROOT = resolve(import.meta.dirname, "../..");

/** The folders and files that are copied by default: enough to run the simulation. */
const SOURCES: readonly string[] = [...PRODUCT_FOLDERS, "test/simulation", "test/support", "package.json", "tsconfig.json"];

/**
 * A copy of the sources in a folder of its own, where they may be broken: the project's own files are never touched.
 */
export interface PatchedTree {
  readonly root: string;
  /** Reverts the earlier edits and makes these. Throws a sentence when an edit does not fit its file. */
  apply(edits: readonly Edit[]): void;
  [Symbol.dispose](): void;
}

/** The text with the edits made, in their order. Throws a sentence when one of them does not fit. */
export function edited(text: string, edits: readonly Edit[]): string {
  return edits.reduce((current, { file, find, replace }) => {
    const [before, after, ...others] = current.split(find);
    if (before === undefined || after === undefined || others.length > 0) {
      const times = current.split(find).length - 1;
      throw new Error(
        `${file}: the text to replace stands there ${times} times, not once; copy it from the file again: ${find.slice(0, 80)}`,
      );
    }
    return `${before}${replace}${after}`;
  }, text);
}

/** The original text of a file of the project. */
export function sourceOf(file: string): string {
  return readFileSync(join(ROOT, file), "utf8");
}

/** Copies the sources (folders and files from the project's root) and links the installed packages beside them. */
export function patchedTree(sources: readonly string[] = SOURCES): PatchedTree {
  const root = mkdtempSync(join(tmpdir(), "patched-tree-"));
  for (const source of sources) {
    mkdirSync(dirname(join(root, source)), { recursive: true });
    cpSync(join(ROOT, source), join(root, source), { recursive: true, filter: (path) => !relative(ROOT, path).includes("node_modules") });
  }
  symlinkSync(join(ROOT, "node_modules"), join(root, "node_modules"), "dir");
  /** The text of each edited file as it was copied, because the project may change meanwhile. */
  const originals = new Map<string, string>();
  return {
    root,
    apply(edits) {
      for (const [file, text] of originals) writeFileSync(join(root, file), text);
      for (const [file, own] of Map.groupBy(edits, (edit) => edit.file)) {
        const text = originals.get(file) ?? readFileSync(join(root, file), "utf8");
        originals.set(file, text);
        writeFileSync(join(root, file), edited(text, own));
      }
    },
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
}
