import { readFileSync } from "node:fs";
import type { Plugin } from "esbuild";
import { type BundledCode, bundleCode } from "../../infra/build.ts";
import { MARKS } from "./environment.ts";

const mark = (name: string): string => `globalThis.${MARKS} && (globalThis.${MARKS}.${name} ??= performance.now());`;

/** Marks where a handler's own lines begin: imports come first, so all its modules have been evaluated by then. */
const markWiring: Plugin = {
  name: "mark-wiring",
  setup(build) {
    build.onLoad({ filter: /functions\/\w+\/handler\.ts$/ }, ({ path }) => ({
      contents: `${readFileSync(path, "utf8")}`.replace(/^const /m, `${mark("wire")}\nconst `),
      loader: "ts",
    }));
  },
};

/** The bundle as deployed but for two looks at the clock: when its evaluation begins, and when the handler's own lines do. */
export async function markedBundle(name: string, outDir: string): Promise<BundledCode> {
  return bundleCode(name, outDir, { plugins: [markWiring], banner: mark("evaluate") });
}
