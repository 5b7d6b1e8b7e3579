import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The files of the page by name, each with its content type. */
export type Assets = ReadonlyMap<string, { readonly type: string; readonly body: Buffer }>;

const TYPES: Readonly<Record<string, string>> = {
  "index.html": "text/html; charset=utf-8",
  "page.js": "text/javascript; charset=utf-8",
  "page.css": "text/css; charset=utf-8",
};

/** A release has the page ready (infra/release/make-release.ts). */
const BUILT = join(import.meta.dirname, "../built");

/** The page: as a release has it, or compiled from its sources, which takes a tenth of a second. */
export async function pageAssets(): Promise<Assets> {
  if (existsSync(BUILT)) return assetsOf((name) => readFileSync(join(BUILT, name)));
  const { buildPage } = await import("../build.ts");
  const { files } = await buildPage();
  return assetsOf((name) => Buffer.from(files.get(name) ?? ""));
}

const assetsOf = (read: (name: string) => Buffer): Assets =>
  new Map(Object.entries(TYPES).map(([name, type]) => [name, { type, body: read(name) }]));
