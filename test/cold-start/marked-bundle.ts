import { readFileSync } from "node:fs";
import type { Plugin } from "esbuild";
import { type BundledCode, bundleCode } from "#infra/build.ts";
import { MARKS } from "./environment.ts";

const mark = (name: string): string => `globalThis.${MARKS} && (globalThis.${MARKS}.${name} ??= performance.now());`;

/** Records when the handler's own statements begin: imports run first, so all modules are evaluated by then. */
const markWiring: Plugin = {
  name: "mark-wiring",
  setup(build) {
    build.onLoad({ filter: /functions\/\w+\/handler\.ts$/ }, ({ path }) => ({
      contents: `${readFileSync(path, "utf8")}`.replace(/^const /m, `${mark("wire")}\nconst `),
      loader: "ts",
    }));
  },
};

/** The bundle as deployed, except that it records when its evaluation and the handler's own statements begin. */
export async function markedBundle(name: string, outDir: string): Promise<BundledCode> {
  return bundleCode(name, outDir, { plugins: [markWiring], banner: mark("evaluate") });
}
