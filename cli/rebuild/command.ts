// `cli rebuild`: makes lost records and NodeClaims of a cluster again, after the loss of the table or of objects.
// In: a live cluster, its instances and what is left in the stack's table. Out: a line for each thing that is missing;
// with --apply its record of intent is written. It must not launch or terminate: that is the lifecycle function's part.

import { DEFAULT_STACK } from "#terminal/arguments.ts";
import { defineCommand } from "#terminal/command.ts";

export const rebuildCommand = defineCommand({
  name: "rebuild",
  summary: "Makes lost records and NodeClaims of a cluster again, from what is left of them",
  options: {
    cluster: { type: "text", value: "NAME", description: "name of the EKS cluster", isRequired: true },
    stack: { type: "text", value: "NAME", description: `CloudFormation stack whose table is used (${DEFAULT_STACK})` },
    table: { type: "text", value: "NAME", description: "that table itself, when the stack is gone or may not be read" },
    region: { type: "text", value: "REGION", description: "AWS region; AWS_REGION when absent" },
    apply: { type: "flag", description: "write what is missing; without it, only say what that is" },
  },
  run: async ({ values: { cluster, table, stack, region = process.env["AWS_REGION"] ?? "", apply } }) => {
    // The clients of AWS and Kubernetes are large, so only this command loads them.
    const { rebuildCluster } = await import("./cluster.ts");
    return {
      output: await rebuildCluster({
        cluster,
        ...(table !== undefined && { table }),
        ...(stack !== undefined && { stack }),
        region,
        apply,
      }),
    };
  },
});
