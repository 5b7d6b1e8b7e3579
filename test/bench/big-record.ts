import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import { bigClaim, bigClaimStatus } from "../adapters/kubernetes/big-cluster.ts";

/**
 * The record of the NodeClaim of a large cluster (big-cluster.ts) whose node was initialized long ago.
 * @param at when it was created, ms since the epoch
 */
export function bigRecord(
  i: number,
  { cluster, at, nodes, pods }: { readonly cluster: string; readonly at: number; readonly nodes: number; readonly pods: number },
): NodeClaimRecord {
  const { providerID = "", nodeName: node = "" } = bigClaimStatus(i);
  const [zone = "", id = ""] = providerID.split("/").slice(-2);
  const manifest = bigClaim(i);
  const { name } = manifest.metadata;
  return {
    ...{ cluster, name, version: 0, intentId: `intent-${i}`, uid: `NodeClaim-${i}`, nodePool: "default", manifest },
    ...{ reason: "provisioned", createdAt: at, launchedAt: at, initializedAt: at + 400_000 },
    podUids: Array.from({ length: Math.ceil(pods / nodes) }, (_, pod) => `Pod-${i + pod * nodes}`),
    instanceTypes: Array.from({ length: 60 }, (_, type) => `m${type % 8}i.${type}xlarge`),
    ...{ pricePerHour: 0.4, launchPrice: { pricePerHour: 0.4 }, launchAttempts: 1, dueAt: Number.MAX_SAFE_INTEGER, nodeName: node },
    instance: { id, zone, instanceType: "m7i.2xlarge", capacityType: "on-demand", imageId: "ami-1" },
  } as unknown as NodeClaimRecord;
}
