import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";

/** The project's root. */
export const ROOT = join(import.meta.dirname, "../..");

/**
 * Sources by path from the root. A check takes a tree, so that a test can plant a case in it and see the check fail.
 */
export type SourceTree = ReadonlyMap<string, string>;

const SKIPPED = /(^|\/)(node_modules|dist|cdk\.out|\.cache|\.git)(\/|$)/;

/** Files below some folders (or files at the root) whose names end in one of `endings`. */
export function readTree(places: readonly string[], endings: readonly string[] = [".ts"]): SourceTree {
  const files = places.flatMap((place) =>
    endings.some((ending) => place.endsWith(ending))
      ? [place]
      : readdirSync(join(ROOT, place), { recursive: true, encoding: "utf8" })
          .map((name) => join(place, name))
          .filter((name) => endings.some((ending) => name.endsWith(ending)) && !SKIPPED.test(name)),
  );
  return new Map(files.sort().map((file) => [file, readFileSync(join(ROOT, file), "utf8")]));
}

/** The tree with files added or replaced. */
export const planted = (tree: SourceTree, files: Readonly<Record<string, string>>): SourceTree =>
  new Map([...tree, ...Object.entries(files)]);

/** What a file imports, type imports included: paths from the root for our own files
 * (relative or "#core/…", as package.json declares), names for packages. */
export function importsOf(tree: SourceTree, file: string): readonly string[] {
  const imports = /^\s*(?:import|export)\b[^"';]*?from\s*"([^"]+)"|^\s*import\s*"([^"]+)"|\bimport\(\s*"([^"]+)"/gm;
  return [...(tree.get(file) ?? "").matchAll(imports)].map(([, a, b, c]) => {
    const name = a ?? b ?? c ?? "";
    if (name.startsWith("#")) return name.slice(1);
    return name.startsWith(".") ? normalize(join(dirname(file), name)) : name;
  });
}

/** Every import of the tree, as pairs of files. Imports of packages are left out. */
export function importPairs(tree: SourceTree): readonly (readonly [from: string, to: string])[] {
  return [...tree.keys()].flatMap((file) =>
    importsOf(tree, file)
      .filter((name) => tree.has(name))
      .map((name) => [file, name] as const),
  );
}

/**
 * Groups of files that import each other in a circle, type imports included (Tarjan's strongly connected components).
 */
export function circles(tree: SourceTree): readonly (readonly string[])[] {
  const edges = Map.groupBy(importPairs(tree), ([from]) => from);
  const indexes = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const found: string[][] = [];
  const visit = (file: string): void => {
    indexes.set(file, indexes.size);
    lowest.set(file, indexes.get(file) ?? 0);
    stack.push(file);
    for (const [, next] of edges.get(file) ?? []) {
      if (!indexes.has(next)) visit(next);
      if (stack.includes(next)) lowest.set(file, Math.min(lowest.get(file) ?? 0, lowest.get(next) ?? 0));
    }
    if (lowest.get(file) !== indexes.get(file)) return;
    const group = stack.splice(stack.indexOf(file));
    if (group.length > 1) found.push(group.sort());
  };
  for (const file of tree.keys()) if (!indexes.has(file)) visit(file);
  return found;
}

/**
 * Imports between the rooms of a folder that do not go downwards. `order` names folders and files directly below
 * `base`, the lowest first; a room that it does not name is reported too.
 */
export function upwardImports(tree: SourceTree, base: string, order: readonly string[]): readonly string[] {
  const floor = (file: string): number => order.indexOf(relative(base, file).split("/")[0] ?? "");
  return importPairs(tree).flatMap(([from, to]) => {
    if (!from.startsWith(`${base}/`) || !to.startsWith(`${base}/`)) return [];
    const [a, b] = [floor(from), floor(to)];
    const isSameRoom = a >= 0 && a === b;
    return isSameRoom || (b >= 0 && b < a) ? [] : [`${from} -> ${to}`];
  });
}
