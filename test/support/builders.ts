import type { ClaimView } from "../../core/lifecycle/action.ts";
import {
  DISRUPTED_TAINT,
  EXCLUDE_BALANCERS,
  INTENT,
  REGISTERED,
  TERMINATION_FINALIZER,
  UNREGISTERED_TAINT,
} from "../../core/model/labels.ts";
import type { Node } from "../../core/model/node.ts";
import type { NodeClaim } from "../../core/model/node-claim.ts";
import type { NodeClaimRecord } from "../../core/model/node-claim-record.ts";
import type { Pod } from "../../core/model/pod.ts";

export const NOW = Date.parse("2026-01-01T12:00:00Z");
export const at = (secondsAgo: number): string => new Date(NOW - secondsAgo * 1_000).toISOString().replace(".000Z", "Z");

/** An intent one minute old, nothing done for it yet. */
export function record(change: Partial<NodeClaimRecord> = {}): NodeClaimRecord {
  return {
    cluster: "c1",
    name: "default-abcde",
    version: 1,
    intentId: "intent-1",
    nodePool: "default",
    manifest: { metadata: { name: "default-abcde" }, spec: nodeClaim().spec },
    reason: "provisioned",
    createdAt: NOW - 60_000,
    podUids: [],
    instanceTypes: ["m5.large"],
    pricePerHour: 0.096,
    launchAttempts: 0,
    dueAt: NOW,
    ...change,
  };
}

export const INSTANCE = { id: "i-1", instanceType: "m5.large", zone: "us-west-2a", capacityType: "on-demand", imageId: "ami-1" } as const;
export const PROVIDER_ID = "aws:///us-west-2a/i-1";

/** Its custom resource, with the conditions named True since a minute ago. */
export function nodeClaim({
  conditions = [],
  ...metadata
}: { readonly conditions?: readonly string[] } & Partial<NodeClaim["metadata"]> = {}): NodeClaim {
  return {
    metadata: {
      name: "default-abcde",
      uid: "uid-1",
      generation: 1,
      creationTimestamp: at(60),
      labels: { "karpenter.sh/nodepool": "default", "karpenter.k8s.aws/ec2nodeclass": "default" },
      annotations: { [INTENT]: "intent-1" },
      finalizers: [TERMINATION_FINALIZER],
      ...metadata,
    },
    spec: { requirements: [], nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" } },
    status: {
      ...(conditions.length > 0 && { providerID: PROVIDER_ID }),
      conditions: conditions.map((type) => ({
        type,
        status: "True",
        reason: type,
        message: "",
        lastTransitionTime: at(60),
        observedGeneration: 1,
      })),
    },
  };
}

/** A node that has just joined, Ready; `registered` has been through registration, `going` is tainted and deleted. */
export function node(
  state: "joined" | "registered" | "going" = "registered",
  change: { readonly ready?: boolean; readonly taints?: readonly object[] } = {},
): Node {
  const taints = state === "joined" ? [UNREGISTERED_TAINT] : state === "going" ? [DISRUPTED_TAINT] : [];
  return {
    metadata: {
      name: "ip-10-0-0-1",
      uid: "node-uid",
      labels: {
        ...(state !== "joined" && { [REGISTERED]: "true" }),
        ...(state === "going" && { [EXCLUDE_BALANCERS]: "karpenter" }),
      },
      ...(state !== "joined" && {
        finalizers: [TERMINATION_FINALIZER],
        ownerReferences: [
          { apiVersion: "karpenter.sh/v1", kind: "NodeClaim", name: "default-abcde", uid: "uid-1", blockOwnerDeletion: true },
        ],
      }),
      ...(state === "going" && { deletionTimestamp: at(10) }),
    },
    spec: { providerID: PROVIDER_ID, taints: [...taints, ...(change.taints ?? [])] as never },
    status: { allocatable: { cpu: "2" }, conditions: [{ type: "Ready", status: change.ready === false ? "False" : "True" }] },
  };
}

export function pod(name: string, change: Partial<Pod["spec"]> = {}, metadata: Partial<Pod["metadata"]> = {}): Pod {
  return {
    metadata: { name, namespace: "default", uid: `uid-${name}`, ...metadata },
    spec: { nodeName: "ip-10-0-0-1", ...change },
    status: { phase: "Running" },
  };
}

export function view(change: Partial<ClaimView> = {}): ClaimView {
  return {
    now: NOW,
    name: "default-abcde",
    record: undefined,
    claim: undefined,
    nodes: [],
    instance: undefined,
    pods: [],
    volumeAttachments: [],
    replacements: [],
    ...change,
  };
}
