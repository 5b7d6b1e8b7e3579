import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** Which project of vitest.config.ts a test file belongs to. The rules read what the file imports; no list is kept. */

const ROOT = resolve(import.meta.dirname, "../..");

/**
 * What setup.ts cannot restore after a test file: mocks of SDK clients, fast-check's defaults, Vitest's own modules and
 * time.
 */
const CHANGES_ITS_PROCESS = /\b(?:mockClient|configureGlobal|vi\.(?:mock|doMock|useFakeTimers))\(/;

/** Node removes the types of .ts files itself. It does not read JSX. */
const NEEDS_VITE = /\.tsx$/;

/**
 * What takes seconds: a whole lab, the simulation, another process, a bundle, a synthesised stack, laws over drawn
 * inputs, linear programs, an EC2 on the wire, workloads of benches, hostile objects, kept clusters.
 */
const SLOW =
  /^(?:lab\/host\.ts|test\/(?:simulation|bench|hostile|conformance|e2e\/fake-aws|installer\/install\/world)\b|node:child_process|node:worker_threads|esbuild|aws-cdk-lib|fast-check|highs)/;

/** The values that a file imports. An import of types alone loads nothing. */
const IMPORT = /^(?:import|export)\b(?! type\b)[^;"']*?(?:\bfrom )?"([^"]+)"|\bimport\("([^"]+)"\)/gm;

const imports = new Map<string, readonly string[]>();

/** Packages by their names, files of the project by their paths from its root. A package imports nothing of ours. */
function importsOf(name: string): readonly string[] {
  const known = imports.get(name);
  if (known !== undefined) return known;
  const path = join(ROOT, name);
  const text = /\.tsx?$/.test(name) && existsSync(path) ? readFileSync(path, "utf8") : "";
  const found = Array.from(text.matchAll(IMPORT), ([, from, later]) => {
    const imported = from ?? later ?? "";
    if (imported.startsWith("#")) return imported.slice(1);
    return imported.startsWith(".") ? join(dirname(name), imported) : imported;
  });
  imports.set(name, found);
  return found;
}

/** Everything that a file loads, by itself or through what it imports. */
function loadedBy(file: string): ReadonlySet<string> {
  const loaded = new Set([file]);
  for (const each of loaded) for (const name of importsOf(each)) loaded.add(name);
  return loaded;
}

export interface KindsOfTests {
  /** Quick files that leave their process as they found it. */
  readonly unit: readonly string[];
  /** The other files that leave their process as they found it. */
  readonly shared: readonly string[];
  /** Files that need a process of their own. */
  readonly alone: readonly string[];
}

/** The test files of `npm test`, by their paths from the project's root. */
export function kindsOfTests(): KindsOfTests {
  const files = readdirSync(join(ROOT, "test"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".test.ts") && !file.startsWith("e2e/"))
    .map((file) => `test/${file}`)
    .toSorted();
  const kindOf = (file: string): keyof KindsOfTests => {
    const loaded = [...loadedBy(file)];
    if (CHANGES_ITS_PROCESS.test(readFileSync(join(ROOT, file), "utf8")) || loaded.some((name) => NEEDS_VITE.test(name))) return "alone";
    return loaded.some((name) => SLOW.test(name)) ? "shared" : "unit";
  };
  return { unit: [], shared: [], alone: [], ...Object.groupBy(files, kindOf) };
}
