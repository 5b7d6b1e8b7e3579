import type { ClusterApi, KubeObject } from "../account/ports.ts";

/** What makes and holds the nodes of a cluster. */
export interface NodeObjects {
  readonly pools: readonly KubeObject[];
  readonly claims: readonly KubeObject[];
  readonly classes: readonly KubeObject[];
}

const GROUP = "karpenter.k8s.aws";

/** Those that refer to an EC2NodeClass; those of EKS Auto Mode refer to a NodeClass of its own. */
export async function nodeObjects(api: ClusterApi): Promise<NodeObjects> {
  const [pools, claims, classes] = await Promise.all([
    api.list({ apiVersion: "karpenter.sh/v1", kind: "NodePool" }),
    api.list({ apiVersion: "karpenter.sh/v1", kind: "NodeClaim" }),
    api.list({ apiVersion: `${GROUP}/v1`, kind: "EC2NodeClass" }),
  ]);
  return {
    pools: pools.filter(({ spec }) => groupOf((spec as { readonly template?: { readonly spec?: unknown } })?.template?.spec) === GROUP),
    claims: claims.filter(({ spec }) => groupOf(spec) === GROUP),
    classes,
  };
}

const groupOf = (spec: unknown): string | undefined =>
  (spec as { readonly nodeClassRef?: { readonly group?: string } } | undefined)?.nodeClassRef?.group;
