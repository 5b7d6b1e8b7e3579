import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { build, type Metafile, type Plugin } from "esbuild";
import { leanAwsSchemas } from "../bundle-plugins.ts";
import { ROOT } from "../dist.ts";

/** Dependencies in CommonJS call require. */
const WITH_REQUIRE = {
  js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
};

/** The folder of the compiled program in the package. */
export const LIB = "lib";

/** What every compiled file of a package is made with. Runs on the Node of `target` and later. */
const compiled = (outDir: string, target: string) =>
  ({
    absWorkingDir: ROOT,
    outdir: join(outDir, LIB),
    bundle: true,
    minify: true,
    keepNames: true,
    platform: "node",
    target,
    format: "esm",
    mainFields: ["module", "main"] as string[],
    // No compiled file is a program but main.js, and that calls what it imports itself.
    define: { "import.meta.main": "false" },
    banner: WITH_REQUIRE,
    legalComments: "none",
    metafile: true,
    logLevel: "silent",
  }) as const;

/**
 * Compiles the program, with all that it imports, into OUT_DIR/lib: main.js and a chunk for each part that a command
 * loads on use. Runs on the Node of `target` and later. Throws esbuild's own error when a source does not compile.
 */
export async function compileProgram(outDir: string, target: string): Promise<Metafile> {
  const { metafile } = await build({
    ...compiled(outDir, target),
    entryPoints: { main: join(ROOT, "cli/main.ts") },
    splitting: true,
    // "aws-cdk-lib" exports the modules of all services, 30 MB; its core has all that is imported by that name.
    alias: { "aws-cdk-lib": CDK_CORE },
    // A release has the page compiled, so nothing calls the compiler there.
    external: ["esbuild"],
    plugins: [inRelease, placesInPackage, cdkModules, withoutTemplateValidator, leanAwsSchemas],
  });
  return metafile;
}

/**
 * Compiles the construct for users' own apps into OUT_DIR/lib/index.js. The CDK is not in it: a construct must be of
 * the same CDK as the app that it is in.
 */
export async function compileConstruct(outDir: string, target: string): Promise<Metafile> {
  const { metafile } = await build({
    ...compiled(outDir, target),
    entryPoints: { index: join(ROOT, "infra/construct.ts") },
    external: ["aws-cdk-lib", "aws-cdk-lib/*", "constructs"],
    plugins: [inRelease, placesInPackage],
  });
  return metafile;
}

const CDK = join(ROOT, "node_modules/aws-cdk-lib");
const CDK_CORE = join(CDK, "core/index.js");

/** The alias of "aws-cdk-lib" holds for what begins with it too, so its modules are resolved before. */
const cdkModules: Plugin = {
  name: "cdk-modules",
  setup: ({ onResolve }) => {
    onResolve({ filter: /^aws-cdk-lib\/./ }, ({ path }) => ({ path: join(CDK, path.slice("aws-cdk-lib/".length), "index.js") }));
  },
};

/** The CDK checks the templates that it writes by a program of 9 MB (WebAssembly). CI checks them, and by more. */
const withoutTemplateValidator: Plugin = {
  name: "without-template-validator",
  setup: ({ onLoad }) => {
    onLoad({ filter: /aws-cdk-lib\/core\/lib\/validation\/cloudformation-validate-plugin\.js$/ }, () => ({
      contents: `exports.CloudFormationValidatePlugin = class {
        static _singletonInstance() { return new this(); }
        name = "none";
        validate() { return { success: true, violations: [] }; }
      };`,
    }));
  },
};

/** Makes IS_RELEASE true. */
export const inRelease: Plugin = {
  name: "in-release",
  setup: ({ onLoad }) => {
    onLoad({ filter: /settings\/release\.ts$/ }, () => ({ contents: "export const IS_RELEASE = true;", loader: "ts" }));
  },
};

/**
 * Sources find their data by their own place, as in infra/crds beside infra/manifests.ts. Data has the same place in
 * the package, but the code is in lib/, so each source gets its own place as seen from there.
 */
const placesInPackage: Plugin = {
  name: "places-in-package",
  setup: ({ onLoad }) => {
    onLoad({ filter: /\/(?:adapters|cli|console|functions|infra|installer|lab|manifests|settings|terminal)\/.*\.ts$/ }, ({ path }) => {
      if (path.includes("/node_modules/")) return undefined;
      const source = readFileSync(path, "utf8");
      return { contents: withPlaces(source, relative(ROOT, path).replaceAll("\\", "/")), loader: "ts" };
    });
  },
};

/** The source with its place in the package (`file`, from the root) for the place that it has when compiled. */
export function withPlaces(source: string, file: string): string {
  return source
    .replaceAll("import.meta.dirname", `(import.meta.dirname + ${JSON.stringify(`/../${dirname(file)}`)})`)
    .replaceAll("import.meta.url", `new URL(${JSON.stringify(`../${file}`)}, import.meta.url).href`);
}
