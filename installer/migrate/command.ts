import { text } from "#terminal/command-line.ts";

// `cli adopt`: takes over the nodes of a running Karpenter without replacing one.
// In: a cluster in which the functions are installed. Out: a line for each check and step, and a table of NodeClaims.
// It ends Karpenter only when all checks pass, and can be run again at any point. It must never end or taint a node.

import { DEFAULT_STACK } from "#terminal/arguments.ts";
import { defineCommand } from "#terminal/command.ts";
import { InputError } from "#terminal/input-error.ts";
import { ADOPT_OPTIONS } from "./options.ts";

export const adoptCommand = defineCommand({
  name: "adopt",
  summary: "Takes over the nodes of a running Karpenter without replacing one; safe to run again",
  options: {
    cluster: { type: "text", value: "NAME", description: "name of the EKS cluster", isRequired: true },
    region: text("REGION", "AWS region of the cluster; AWS_REGION when absent"),
    stack: text("NAME", `CloudFormation stack of the functions (${DEFAULT_STACK})`),
    ...ADOPT_OPTIONS,
    "dry-run": { type: "flag", description: "say what would be done, and list the NodeClaims; change nothing" },
  },
  run: async ({ values }, print) => {
    const [{ adopt }, { awsPorts }] = await Promise.all([import("./adopt.ts"), import("../account/aws-ports.ts")]);
    const {
      cluster,
      region = process.env["AWS_REGION"] ?? process.env["AWS_DEFAULT_REGION"] ?? "",
      stack: stackName = DEFAULT_STACK,
    } = values;
    if (region === "") throw new InputError("say in which region the cluster is: --region us-west-2, or set AWS_REGION");
    const { deployment, "keep-deployment": keepDeployment, "dry-run": dryRun } = values;
    try {
      const options = { cluster, stackName, deployment, keepDeployment, dryRun, installs: false };
      return await adopt(options, awsPorts(region), print);
    } catch (error) {
      if (!(error instanceof Error) || error instanceof InputError) throw error;
      throw new InputError(`${error.message.replace(/\.$/, "")}; fix that, then run the command again, which continues where it ended`);
    }
  },
});
