import { HOURS_A_MONTH } from "#core/model/prices.ts";

/** Another way to have nodes added and removed, and what it costs in a month beside the nodes themselves. */
export interface Peer {
  readonly name: string;
  readonly perMonth: number;
}

/**
 * USD an hour in us-east-1 and us-west-2, as of 2026-11: /fargate/pricing, /ec2/pricing/on-demand and /eks/pricing of
 * aws.amazon.com. Auto Mode's price of an m5.xlarge is 12 % of its on-demand price.
 */
const HOUR = { fargateCpu: 0.04048, fargateGb: 0.004445, m5Large: 0.096, t4gMedium: 0.0336, m5Xlarge: 0.192, autoModeShare: 0.12 };

/** Karpenter's chart has two; its documents ask for 1 CPU and 1 GiB for each, to which Fargate gives 2 GB. */
const REPLICAS = 2;

/** What else a user could take for the same clusters. */
export function peersOf({ clusters, nodes }: { readonly clusters: number; readonly nodes: number }): readonly Peer[] {
  const replica = HOUR.fargateCpu + 2 * HOUR.fargateGb;
  return [
    { name: "Karpenter, two replicas on Fargate", perMonth: clusters * HOURS_A_MONTH * REPLICAS * replica },
    { name: "Karpenter, on two m5.large of a node group", perMonth: clusters * HOURS_A_MONTH * REPLICAS * HOUR.m5Large },
    { name: "Karpenter, on two t4g.medium of a node group", perMonth: clusters * HOURS_A_MONTH * REPLICAS * HOUR.t4gMedium },
    {
      name: "EKS Auto Mode, where the nodes are m5.xlarge",
      perMonth: clusters * HOURS_A_MONTH * nodes * HOUR.m5Xlarge * HOUR.autoModeShare,
    },
  ];
}
