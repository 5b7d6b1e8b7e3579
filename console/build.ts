import { readFileSync } from "node:fs";
import { join } from "node:path";
import { build, type Metafile } from "esbuild";

/** The compiled page: its files by name, and what they are made of. */
export interface BuiltPage {
  readonly files: ReadonlyMap<string, Uint8Array>;
  readonly metafile: Metafile;
}

/** Compiles console/page/ for a browser. Throws esbuild's own error when a source does not compile. */
export async function buildPage(): Promise<BuiltPage> {
  const folder = join(import.meta.dirname, "page");
  const { outputFiles, metafile } = await build({
    absWorkingDir: join(import.meta.dirname, ".."),
    entryPoints: { page: join(folder, "main.tsx") },
    outdir: "built",
    bundle: true,
    minify: true,
    write: false,
    platform: "browser",
    target: "es2022",
    format: "esm",
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    metafile: true,
    logLevel: "silent",
  });
  const compiled = outputFiles.map(({ path, contents }) => [path.slice(path.lastIndexOf("/") + 1), contents] as const);
  return { files: new Map([["index.html", readFileSync(join(folder, "index.html"))], ...compiled]), metafile };
}
