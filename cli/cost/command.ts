// `cli cost`: what the autoscaler itself costs in a month.
// In: the size of a fleet. Out: a bill by service as a table or JSON. It asks no account and no cluster.

import { defineCommand } from "#terminal/command.ts";

export const costCommand = defineCommand({
  name: "cost",
  summary: "Says what the autoscaler itself costs in a month, by service, beside Karpenter and EKS Auto Mode",
  options: {
    clusters: { type: "text", value: "N", description: "clusters of one stack (1)" },
    nodes: { type: "text", value: "N", description: "nodes of each cluster (0)" },
    churn: { type: "text", value: "PART", description: "nodes that are replaced: 5%/day, 2%/hour (none)" },
    sources: { type: "text", value: "LIST", description: "sources of wake-ups: notify, audit, sweep (notify,sweep)" },
    metrics: { type: "text", value: "SENT", description: "the setting CLOUDWATCH_METRICS (essential)" },
    endpoints: { type: "text", value: "N", description: "interface endpoints of a private VPC, times its zones (0)" },
    private: { type: "flag", description: "the API server is private: the endpoints that its VPC needs in two zones" },
    "call-ms": { type: "text", value: "MS", description: "how long a remote call takes, ms (10)" },
    "free-tier": { type: "flag", description: "without what AWS gives each account for nothing" },
    alarms: { type: "flag", description: "with alarms: the stack has an alarmTopicArn" },
    json: { type: "flag", description: "print {perMonth, perCluster, parts, range, peers}, in USD" },
  },
  run: async ({ values }) => {
    const { cost } = await import("./cost.ts");
    return { output: cost(values) };
  },
});
