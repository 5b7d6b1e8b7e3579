import { Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks } from "cdk-nag";
import { bundleCode, functionNames } from "./build.ts";
import { DIST } from "./dist.ts";
import { endWith } from "./end-with.ts";
import { FUNCTION_NAMES } from "./functions.ts";
import { makeStacks, type Synthesis, type SynthOptions, settingsFrom, synthesized } from "./synthesis.ts";

/**
 * Bundles the functions and synthesises the stack into cdk.out, offline and without the CDK's CLI: `node infra/app.ts
 * [--config FILE | --clusters a,b [--sources audit,notify,sweep]] [--architecture x86_64] [--stack NAME] [--out DIR]`.
 */

/** The stacks, which cdk-nag checks when they are synthesised. */
export function makeApp(options: SynthOptions): Synthesis {
  const made = makeStacks(options);
  Validations.of(made.app).addPlugins(new AwsSolutionsChecks(made.app));
  return made;
}

/** The arguments of `settingsFrom`. */
export const USAGE = (script: string): string =>
  `npm run -s ${script} -- [--config FILE | --clusters a,b [--sources audit,notify,sweep]] [--architecture x86_64] [--stack NAME] [--ephemeral] [--admission] [--scrape] [--dashboard] [--create-node-roles] [--assets-bucket NAME] [--public-url restApi] [--region REGION] [--out DIR]`;

async function main(): Promise<void> {
  const { settings, outDir = process.env["CDK_OUTDIR"] ?? "cdk.out" } = settingsFrom(process.argv.slice(2));
  const missing = FUNCTION_NAMES.filter((name) => !functionNames().includes(name));
  if (missing.length > 0) {
    throw new Error(`There is no functions/${missing[0]}/handler.ts, so the stack cannot be made.`);
  }
  for (const name of FUNCTION_NAMES) {
    await bundleCode(name, DIST);
  }
  process.stdout.write(synthesized(makeApp({ settings, outDir }), settings, outDir));
}

if (import.meta.main) {
  try {
    await main();
  } catch (error) {
    endWith(error, USAGE("synth"));
  }
}
