import { flag, text } from "#terminal/command-line.ts";

// `cli upgrade`: brings a stack and its clusters to the release of this program.
// In: a cluster or a stack. Out: what CloudFormation would change, in words, then a line for each step. It changes
// nothing before a person agrees, and can be run again at any point. It must never print a secret.

import { DEFAULT_STACK } from "#terminal/arguments.ts";
import { defineCommand } from "#terminal/command.ts";
import { InputError } from "#terminal/input-error.ts";

export const upgradeCommand = defineCommand({
  name: "upgrade",
  summary: "Brings a stack and its clusters to this release: shows what changes, asks, then does it; safe to run again",
  options: {
    cluster: text("NAME", "name of an EKS cluster that the stack serves; all of the stack are upgraded"),
    region: text("REGION", "AWS region of the stack; AWS_REGION when absent"),
    stack: text("NAME", `CloudFormation stack (${DEFAULT_STACK})`),
    config: text("FILE", "settings file (docs/settings.md); those that the stack was deployed with when absent"),
    yes: flag("do not ask"),
    "dry-run": flag("show the checks and what would change; change neither the stack nor a cluster"),
  },
  run: async ({ values }, print) => {
    const { cluster, config, stack: stackName = DEFAULT_STACK, yes, "dry-run": dryRun } = values;
    const { region = process.env["AWS_REGION"] ?? process.env["AWS_DEFAULT_REGION"] ?? "" } = values;
    if (region === "") throw new InputError("say in which region the stack is: --region us-west-2, or set AWS_REGION");
    const [{ upgrade }, { awsPorts }, { settingsOf }, { BadInput }] = await Promise.all([
      import("./upgrade.ts"),
      import("../account/aws-ports.ts"),
      import("#infra/synthesis.ts"),
      import("#infra/end-with.ts"),
    ]);
    try {
      const settings = config === undefined ? undefined : settingsOf({ config, stack: stackName, region }).settings;
      return await upgrade({ cluster, region, stackName, settings, yes, dryRun }, awsPorts(region), print);
    } catch (error) {
      if (error instanceof BadInput) throw new InputError(error.message);
      if (!(error instanceof Error) || error instanceof InputError) throw error;
      throw new InputError(`${error.message.replace(/\.$/, "")}; fix that, then run the command again, which continues where it ended`);
    }
  },
});
