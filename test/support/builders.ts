/* Presets of support/objects.ts for one NodeClaim: its record, its custom resource, its node, and the view of it. */
import type { ClaimView } from "#core/lifecycle/action.ts";
import { DISRUPTED_TAINT, EXCLUDE_BALANCERS, INTENT, REGISTERED, TERMINATION_FINALIZER, UNREGISTERED_TAINT } from "#core/model/labels.ts";
import type { Node } from "#core/model/node.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import type { Pod } from "#core/model/pod.ts";
import * as objects from "./objects.ts";

export const NOW = Date.parse("2026-01-01T12:00:00Z");
export const at = (secondsAgo: number): string => new Date(NOW - secondsAgo * 1_000).toISOString().replace(".000Z", "Z");

const CLAIM_NAME = "default-abcde";
const CLAIM_UID = "uid-1";
export const NODE_NAME = "ip-10-0-0-1";

/** The record of an intent that is one minute old and has not been launched. */
export function record(change: Partial<NodeClaimRecord> = {}): NodeClaimRecord {
  const manifest = { metadata: { name: CLAIM_NAME }, spec: nodeClaim().spec };
  return { ...objects.record(CLAIM_NAME, { now: NOW, manifest }), ...change };
}

export const INSTANCE = { id: "i-1", instanceType: "m5.large", zone: "us-west-2a", capacityType: "on-demand", imageId: "ami-1" } as const;
export const PROVIDER_ID = "aws:///us-west-2a/i-1";

/** The NodeClaim of the record; each of the named conditions has been True for one minute. */
export function nodeClaim({
  conditions = [],
  ...metadata
}: { readonly conditions?: readonly string[] } & Partial<NodeClaim["metadata"]> = {}): NodeClaim {
  return objects.nodeClaim(CLAIM_NAME, {
    uid: CLAIM_UID,
    metadata: {
      generation: 1,
      creationTimestamp: at(60),
      labels: { "karpenter.sh/nodepool": "default", "karpenter.k8s.aws/ec2nodeclass": "default" },
      annotations: { [INTENT]: "intent-1" },
      finalizers: [TERMINATION_FINALIZER],
      ...metadata,
    },
    providerID: conditions.length > 0 ? PROVIDER_ID : undefined,
    conditions: conditions.map((type) => objects.fullCondition(type, at(60), { observedGeneration: 1 })),
  });
}

/** A Ready node: "joined" is not yet registered, "registered" is, "going" is registered, tainted and being deleted. */
export function node(
  state: "joined" | "registered" | "going" = "registered",
  change: { readonly ready?: boolean; readonly taints?: readonly object[] } = {},
): Node {
  const taints = state === "joined" ? [UNREGISTERED_TAINT] : state === "going" ? [DISRUPTED_TAINT] : [];
  return objects.node(NODE_NAME, {
    ...change,
    providerID: PROVIDER_ID,
    taints: [...taints, ...(change.taints ?? [])] as never,
    metadata: {
      uid: "node-uid",
      labels: {
        ...(state !== "joined" && { [REGISTERED]: "true" }),
        ...(state === "going" && { [EXCLUDE_BALANCERS]: "karpenter" }),
      },
      ...(state !== "joined" && {
        finalizers: [TERMINATION_FINALIZER],
        ownerReferences: [{ apiVersion: "karpenter.sh/v1", kind: "NodeClaim", name: CLAIM_NAME, uid: CLAIM_UID, blockOwnerDeletion: true }],
      }),
      ...(state === "going" && { deletionTimestamp: at(10) }),
    },
    status: { allocatable: { cpu: "2" } },
  });
}

/** A pod that runs on the node. */
export function pod(name: string, change: Partial<Pod["spec"]> = {}, metadata: Partial<Pod["metadata"]> = {}): Pod {
  return objects.pod(name, { nodeName: NODE_NAME, spec: change, metadata });
}

/** What a reconciliation reads, where nothing has been written and nothing has been launched. */
export function view(change: Partial<ClaimView> = {}): ClaimView {
  return {
    now: NOW,
    name: CLAIM_NAME,
    record: undefined,
    claim: undefined,
    nodes: [],
    instance: undefined,
    pods: [],
    volumeAttachments: [],
    replacements: [],
    otherYoungNodes: [],
    pauses: [],
    ...change,
  };
}
