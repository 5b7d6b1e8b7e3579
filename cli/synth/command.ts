// `cli synth`: writes the CloudFormation templates of a deployment, and the functions' code beside them.
// In: the settings of a deployment. Out: a folder that the CDK's CLI, or anything that deploys templates, takes. It
// must ask no network. In a checkout `npm run synth` bundles the functions first; a release has them.

import { SYNTH_OPTIONS } from "#infra/synth-options.ts";
import { defineCommand } from "#terminal/command.ts";
import { InputError } from "#terminal/input-error.ts";

export const synthCommand = defineCommand({
  name: "synth",
  summary: "Writes the CloudFormation templates of a deployment, and the functions' code beside them",
  options: SYNTH_OPTIONS,
  run: async ({ values }) => {
    const [{ makeStacks, settingsOf, synthesized }, { BadInput }] = await Promise.all([
      import("#infra/synthesis.ts"),
      import("#infra/end-with.ts"),
    ]);
    if (values.config === undefined && values.clusters === undefined)
      throw new InputError("name the clusters: --clusters a,b, or a settings file with --config FILE");
    try {
      const { settings, outDir = "cdk.out" } = settingsOf(values);
      return { output: synthesized(makeStacks({ settings, outDir }), settings, outDir) };
    } catch (error) {
      throw error instanceof BadInput ? new InputError(error.message) : error;
    }
  },
});
