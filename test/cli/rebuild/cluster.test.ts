import { expect, it } from "vitest";
import { rebuildCluster } from "#cli/rebuild/cluster.ts";

const ARGS = { cluster: "c1", table: "karpenter-serverless", region: "us-west-2", apply: false };

it.for([
  { name: "no region", args: { ...ARGS, region: "" }, says: /^say in which region/ },
  { name: "a region that is none", args: { ...ARGS, region: "here" }, says: /^AWS_REGION: set it to an AWS region/ },
  { name: "a table that is none", args: { ...ARGS, table: "a b" }, says: /^TABLE_NAME: is no DynamoDB table name/ },
  { name: "a cluster that is none", args: { ...ARGS, cluster: "a b" }, says: /must be an EKS cluster's name/ },
])("rebuild refuses $name in one sentence", async ({ args, says }) => {
  await expect(rebuildCluster(args)).rejects.toThrow(says);
});
