// `cli uninstall`: takes the autoscaler out of an EKS cluster and its account.
// In: a cluster and a stack. Out: a line for each step, and what stays. It keeps to the order in which nothing hangs,
// ends nodes only when an option says so, and can be run again at any point. What a cluster that EKS does not know has
// left in the account is removed too. It must never touch what Karpenter or EKS Auto Mode works with.

import { DEFAULT_STACK } from "#terminal/arguments.ts";
import { defineCommand } from "#terminal/command.ts";
import { InputError } from "#terminal/input-error.ts";

export const uninstallCommand = defineCommand({
  name: "uninstall",
  summary: "Removes from an EKS cluster what install made, in the order in which nothing hangs; safe to run again",
  options: {
    cluster: { type: "text", value: "NAME", description: "name of the EKS cluster", isRequired: true },
    region: { type: "text", value: "REGION", description: "AWS region of the cluster; AWS_REGION when absent" },
    stack: { type: "text", value: "NAME", description: `CloudFormation stack to remove (${DEFAULT_STACK})` },
    yes: { type: "flag", description: "for a cluster that is gone: remove what it has left without asking" },
    drain: { type: "flag", description: "also drain and end the nodes; without it, nothing is removed while there are any" },
    "keep-nodes": { type: "flag", description: "leave the nodes to Karpenter: no node is ended, no pod is moved" },
    "start-karpenter": { type: "flag", description: "with --keep-nodes: scale Karpenter's Deployment up again" },
    deployment: { type: "text", value: "NAMESPACE/NAME", description: "Karpenter's Deployment, where its label or image does not name it" },
    "dry-run": { type: "flag", description: "say what would be removed; change nothing" },
  },
  run: async ({ values }, print) => {
    const [{ uninstall }, { awsPorts }] = await Promise.all([import("./uninstall.ts"), import("../account/aws-ports.ts")]);
    const { cluster, region = process.env["AWS_REGION"] ?? process.env["AWS_DEFAULT_REGION"] ?? "", stack = DEFAULT_STACK } = values;
    if (region === "") throw new InputError("say in which region the cluster is: --region us-west-2, or set AWS_REGION");
    const { drain, yes, "dry-run": dryRun, "keep-nodes": keepNodes, "start-karpenter": startKarpenter, deployment } = values;
    try {
      const options = { cluster, region, stackName: stack, drain, keepNodes, startKarpenter, deployment, yes, dryRun };
      return await uninstall(options, awsPorts(region), print);
    } catch (error) {
      if (!(error instanceof Error) || error instanceof InputError) throw error;
      throw new InputError(`${error.message.replace(/\.$/, "")}; fix that, then run the command again, which continues where it ended`);
    }
  },
});
