import { BESIDE_READY, conditionOf, fromRfc3339, isTrue } from "#core/model/conditions.ts";
import { isManagedClaim, isManagedPool } from "#core/model/managed.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { EC2NodeClass } from "#core/model/node-class.ts";
import type { NodePool } from "#core/model/node-pool.ts";
import type { Pod } from "#core/model/pod.ts";
import { isProvisionable } from "#core/pods/predicates.ts";
import type { ClusterApi } from "./ports.ts";

/** A NodePool or EC2NodeClass and what it is not Ready for. */
export interface Readiness {
  readonly name: string;
  readonly isReady: boolean;
  /** Why it is not, one sentence of its conditions. */
  readonly why?: string;
  /** Until when a NodePool sleeps, one sentence of its condition. */
  readonly asleep?: string;
}

/** A pod without a node, or a NodeClaim without an initialized node. */
export interface Waiting {
  /** "NAMESPACE/NAME" of a pod, the name of a NodeClaim. */
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** What a NodeClaim has come to: "Launched"; of a pod, what kube-scheduler says. */
  readonly state: string;
}

/** The objects of a cluster that show whether the functions work. */
export interface ClusterObjects {
  readonly pools: readonly Readiness[];
  readonly classes: readonly (Readiness & { readonly role?: string })[];
  /** Pods that kube-scheduler found no node for, the longest wait first. */
  readonly pods: readonly Waiting[];
  /** NodeClaims on their way, the oldest first. */
  readonly claims: readonly Waiting[];
  /** NodeClaims whose node is initialized. */
  readonly nodes: number;
}

/** Reads them. Objects that another controller serves are left out. */
export async function clusterObjects(api: Pick<ClusterApi, "list">): Promise<ClusterObjects> {
  const [pools, classes, claims, pods] = await Promise.all([
    api.list({ apiVersion: "karpenter.sh/v1", kind: "NodePool" }) as Promise<readonly unknown[]> as Promise<readonly NodePool[]>,
    api.list({ apiVersion: "karpenter.k8s.aws/v1", kind: "EC2NodeClass" }) as Promise<readonly unknown[]> as Promise<
      readonly EC2NodeClass[]
    >,
    api.list({ apiVersion: "karpenter.sh/v1", kind: "NodeClaim" }) as Promise<readonly unknown[]> as Promise<readonly NodeClaim[]>,
    api.list({ apiVersion: "v1", kind: "Pod" }, { fieldSelector: "status.phase=Pending" }) as Promise<readonly unknown[]> as Promise<
      readonly Pod[]
    >,
  ]);
  const ours = claims.filter((claim) => isManagedClaim(claim) && claim.metadata.deletionTimestamp === undefined);
  const isInitialized = (claim: NodeClaim): boolean => isTrue(claim.status?.conditions, "Initialized");
  return {
    pools: pools.filter(isManagedPool).map(readinessOf),
    classes: classes.map((one) => ({ ...readinessOf(one), ...(one.spec.role !== undefined && { role: one.spec.role }) })),
    pods: pods.filter(isProvisionable).map(waitingPod).toSorted(bySince),
    claims: ours
      .filter((claim) => !isInitialized(claim))
      .map(waitingClaim)
      .toSorted(bySince),
    nodes: ours.filter(isInitialized).length,
  };
}

const bySince = (a: Waiting, b: Waiting): number => a.since - b.since;

function readinessOf({ metadata: { name }, status }: NodePool | EC2NodeClass): Readiness {
  const { conditions } = status ?? {};
  if (isTrue(conditions, "Ready")) {
    const sleep = conditionOf(conditions, "Asleep");
    return { name, isReady: true, ...(sleep?.status === "True" && { asleep: sleep.message ?? "it sleeps" }) };
  }
  if (conditions === undefined || conditions.length === 0) return { name, isReady: false, why: "no function has looked at it yet" };
  const failed = conditions.filter(({ type, status }) => type !== "Ready" && !BESIDE_READY.has(type) && status === "False");
  const said = failed.map(({ type, message }) => (message ? `${type}: ${message}` : type)).join("; ");
  return { name, isReady: false, why: said || conditionOf(conditions, "Ready")?.message || "it has no condition Ready" };
}

function waitingPod({ metadata, status }: Pod): Waiting {
  const scheduled = (status?.conditions ?? []).find(({ type }) => type === "PodScheduled") as
    | { readonly lastTransitionTime?: string; readonly message?: string }
    | undefined;
  return {
    name: `${metadata.namespace ?? "default"}/${metadata.name}`,
    since: fromRfc3339(scheduled?.lastTransitionTime ?? metadata.creationTimestamp),
    state: scheduled?.message ?? "",
  };
}

function waitingClaim({ metadata: { name, creationTimestamp }, status }: NodeClaim): Waiting {
  const reached = ["Registered", "Launched"].find((type) => isTrue(status?.conditions, type));
  return { name, since: fromRfc3339(creationTimestamp), state: reached ?? "not launched" };
}
