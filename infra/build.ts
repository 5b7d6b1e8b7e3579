import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { build, type Metafile, type Plugin } from "esbuild";
import budgets from "./budgets.json" with { type: "json" };
import { leanAwsSchemas, leanKubernetesClient } from "./bundle-plugins.ts";
import { commitOf } from "./commit.ts";
import { DIST, ROOT } from "./dist.ts";

/**
 * Bundles each functions/NAME/handler.ts into dist/NAME/index.mjs and imports it in a fresh process, as a cold start
 * does. `node infra/build.ts [NAME…]` prints a table and fails when a bundle is over its budget or does not load.
 */

const CATALOGUE = "adapters/catalogue";

/** One bundle, measured. */
export interface Bundle {
  readonly name: string;
  /** Size of the code that a cold start loads; code that is imported on use is in files of its own. */
  readonly bytes: number;
  readonly gzipBytes: number;
  /** Time to evaluate the module in a new Node process of this machine; undefined when that failed. */
  readonly importMs?: number;
  /** What is wrong with the bundle, as sentences; empty when nothing is. */
  readonly faults: readonly string[];
}

// Some CommonJS dependencies call require() for Node's own modules, which an ESM bundle does not have.
const BANNER = 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);';

/** Enough variables for every function to start; no service is called. */
const ENVIRONMENT = {
  AWS_REGION: "us-west-2",
  TABLE_NAME: "karpenter-serverless",
  CLUSTERS: '[{"name":"c1","sources":["audit","notify","sweep"]}]',
  PROVISION_QUEUE_URL: "https://sqs.us-west-2.amazonaws.com/111122223333/provision.fifo",
  CLAIM_QUEUE_URL: "https://sqs.us-west-2.amazonaws.com/111122223333/claims",
  DISRUPTION_QUEUE_URL: "https://sqs.us-west-2.amazonaws.com/111122223333/disruption",
  CATALOG_QUEUE_URL: "https://sqs.us-west-2.amazonaws.com/111122223333/catalog",
  NOTIFY_TOKEN: "0123456789abcdef",
  ADMISSION_TOKEN: "0123456789abcdef",
  METRICS_TOKEN: "0123456789abcdef",
};

/** The folders of functions/ that hold a handler. */
export function functionNames(): readonly string[] {
  const folders = readdirSync(join(ROOT, "functions"), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return folders
    .map(({ name }) => name)
    .filter((name) => existsSync(join(ROOT, "functions", name, "handler.ts")))
    .sort();
}

/** What a measurement adds to a bundle: plugins, and code that runs first. */
export interface BundleExtras {
  readonly plugins?: readonly Plugin[];
  readonly banner?: string;
}

/** A function's code on disk. */
export interface BundledCode {
  /** index.mjs, the entry. */
  readonly file: string;
  /** index.mjs and the files that it cannot start without. */
  readonly startFiles: readonly string[];
  readonly metafile: Metafile;
}

/**
 * Bundles one function into `outDir`/NAME/index.mjs, with its data. What the source imports by import() becomes a file
 * of its own, which a cold start does not load. Throws esbuild's own error when the source does not compile.
 */
export async function bundleCode(name: string, outDir: string, { plugins = [], banner = "" }: BundleExtras = {}): Promise<BundledCode> {
  const folder = join(outDir, name);
  rmSync(folder, { recursive: true, force: true });
  const commit = commitOf(ROOT);
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: { index: join(ROOT, "functions", name, "handler.ts") },
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    minify: true,
    platform: "node",
    target: "node24",
    format: "esm",
    mainFields: ["module", "main"],
    banner: { js: `${BANNER}${banner}` },
    legalComments: "none",
    define: commit === undefined ? {} : { __COMMIT__: JSON.stringify(commit.slice(0, 7)) },
    plugins: [leanKubernetesClient, leanAwsSchemas, ...plugins],
    // Source maps are neither named in the bundle nor packed with it, because Node would read and parse them in each
    // cold start.
    sourcemap: "external",
    sourcesContent: false,
    metafile: true,
    logLevel: "silent",
  });
  const maps = join(outDir, "maps", name);
  rmSync(maps, { recursive: true, force: true });
  mkdirSync(maps, { recursive: true });
  for (const file of readdirSync(folder).filter((file) => file.endsWith(".map"))) renameSync(join(folder, file), join(maps, file));
  if (Object.keys(metafile.inputs).some((input) => input.startsWith(`${CATALOGUE}/`))) {
    copyData(folder);
  }
  return { file: join(folder, "index.mjs"), startFiles: startFilesOf(metafile).map((file) => join(folder, file)), metafile };
}

/** The entry's file and, recursively, the files that it imports statically. */
function startFilesOf({ outputs }: Metafile): readonly string[] {
  const byName = new Map(Object.entries(outputs).map(([path, output]) => [basename(path), output]));
  const found = new Set(["index.mjs"]);
  for (const file of found) {
    for (const { path, kind } of byName.get(file)?.imports ?? []) {
      if (kind === "import-statement" && byName.has(basename(path))) found.add(basename(path));
    }
  }
  return [...found];
}

/** Bundles one function and measures it. */
export async function bundle(name: string, outDir: string): Promise<Bundle> {
  const { file, startFiles } = await bundleCode(name, outDir);
  const code = startFiles.map((path) => readFileSync(path));
  const bytes = code.reduce((sum, { length }) => sum + length, 0);
  const loaded = load(file);
  return {
    name,
    bytes,
    gzipBytes: gzipSync(Buffer.concat(code)).length,
    ...("importMs" in loaded && { importMs: loaded.importMs }),
    faults: [...("fault" in loaded ? [loaded.fault] : []), ...overBudget(name, bytes)],
  };
}

function copyData(folder: string): void {
  const from = join(ROOT, CATALOGUE, "data");
  mkdirSync(join(folder, "data"), { recursive: true });
  for (const file of readdirSync(from).filter((name) => name.endsWith(".gz"))) {
    copyFileSync(join(from, file), join(folder, "data", file));
  }
}

function overBudget(name: string, bytes: number): readonly string[] {
  const budget = new Map(Object.entries(budgets.kibibytes)).get(name);
  if (budget === undefined) {
    return [`${name} has no size budget: add one to infra/budgets.json`];
  }
  const kibibytes = Math.ceil(bytes / 1024);
  return kibibytes > budget
    ? [
        `${name} is ${kibibytes} KiB, over its budget of ${budget}: find what came in (esbuild --metafile) or raise it in infra/budgets.json`,
      ]
    : [];
}

/** Imports a bundle in a process of its own. */
function load(file: string): { readonly importMs: number } | { readonly fault: string } {
  const script = `const began = performance.now();
    const { handler } = await import(${JSON.stringify(pathToFileURL(file).href)});
    const took = performance.now() - began;
    if (typeof handler !== "function") throw new Error("it exports no function named handler");
    process.stdout.write(String(took), () => process.exit(0));`;
  const child = spawnSync(process.execPath, ["--input-type=module", "-e", script], { env: ENVIRONMENT, encoding: "utf8", timeout: 60_000 });
  if (child.status === 0) {
    return { importMs: Number(child.stdout) };
  }
  const reason = child.stderr.split("\n").find((line) => /^\w*Error/.test(line)) ?? child.stderr.trim().split("\n").at(-1) ?? "no output";
  return { fault: `${file} does not load: ${reason}` };
}

/** All functions, or those named. */
export async function bundleAll(outDir: string, names: readonly string[] = functionNames()): Promise<readonly Bundle[]> {
  const bundles: Bundle[] = [];
  // One after another, because imports are timed.
  for (const name of names) {
    bundles.push(await bundle(name, outDir));
  }
  return bundles;
}

async function main(): Promise<void> {
  const known = functionNames();
  const asked = process.argv.slice(2);
  const unknown = asked.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new Error(`There is no functions/${unknown}/handler.ts; the functions are ${known.join(", ")}.`);
  }
  const bundles = await bundleAll(DIST, asked.length > 0 ? asked : known);
  console.log("function        KiB    gz  import ms");
  for (const { name, bytes, gzipBytes, importMs } of bundles) {
    const cells = [kibibytes(bytes), kibibytes(gzipBytes), importMs === undefined ? "-" : importMs.toFixed(0).padStart(10)];
    console.log(`${name.padEnd(13)}${cells.join("")}`);
  }
  const faults = bundles.flatMap((one) => one.faults);
  for (const fault of faults) {
    console.error(fault);
  }
  process.exitCode = faults.length === 0 ? 0 : 1;
}

function kibibytes(bytes: number): string {
  return Math.ceil(bytes / 1024)
    .toString()
    .padStart(6);
}

if (import.meta.main) {
  try {
    await main();
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  }
}
