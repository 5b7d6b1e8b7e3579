import { conditionOf, fromRfc3339, isTrue } from "../../model/conditions.ts";
import type { OwnerReference } from "../../model/kubernetes.ts";
import { ARCH, CAPACITY_TYPE, INSTANCE_TYPE, NODE_POOL, ZONE } from "../../model/labels.ts";
import type { Node } from "../../model/node.ts";
import type { Pod } from "../../model/pod.ts";
import type { Snapshot } from "../../model/snapshot.ts";
import { podUid } from "../../pods/predicates.ts";
import { isManagedNode, managedProviderIds } from "./node-labels.ts";
import type { Sample } from "./sample.ts";

/**
 * The path of the pod's first owner at the API server
 * (karpenter: pkg/controllers/metrics/pod/controller.go, Controller.makeLabels).
 */
function ownerPath(namespace: string, owner: OwnerReference | undefined): string {
  return owner === undefined ? "" : `/apis/${owner.apiVersion}/namespaces/${namespace}/${owner.kind.toLowerCase()}s/${owner.name}`;
}

function stateOf(pod: Pod, node: Node | undefined, isManaged: boolean): Sample {
  const { name, namespace = "default", ownerReferences = [] } = pod.metadata;
  const labels = node?.metadata.labels ?? {};
  const conditions = pod.status?.conditions;
  return {
    name: "pods_state",
    labels: {
      name,
      namespace,
      owner: ownerPath(namespace, ownerReferences[0]),
      node: pod.spec.nodeName ?? "",
      scheduled: String(isTrue(conditions, "PodScheduled")),
      nodepool: labels[NODE_POOL] ?? "N/A",
      zone: labels[ZONE] ?? "",
      arch: labels[ARCH] ?? "",
      capacity_type: labels[CAPACITY_TYPE] ?? "N/A",
      instance_type: labels[INSTANCE_TYPE] ?? "",
      phase: pod.status?.phase ?? "Pending",
      ready: String(isTrue(conditions, "Ready")),
      managed: String(isManaged),
    },
    value: 1,
  };
}

/** Since when a NodeClaim is planned for a pod, by the pod's UID, ms since the epoch. */
export type PlannedSince = ReadonlyMap<string, number>;

function waits(pod: Pod, now: number, planned: PlannedSince): readonly Sample[] {
  const labels = { name: pod.metadata.name, namespace: pod.metadata.namespace ?? "default" };
  const age = (now - fromRfc3339(pod.metadata.creationTimestamp)) / 1_000;
  const since = planned.get(podUid(pod));
  const isPending = (pod.status?.phase ?? "Pending") === "Pending";
  const isUnbound = isPending && !pod.spec.nodeName;
  const found: (Sample | false)[] = [
    isUnbound && { name: "pods_unbound_time_seconds", labels, value: age },
    isPending && { name: "pods_unstarted_time_seconds", labels, value: age },
    isUnbound && since !== undefined && { name: "pods_provisioning_unbound_time_seconds", labels, value: (now - since) / 1_000 },
    isPending && since !== undefined && { name: "pods_provisioning_unstarted_time_seconds", labels, value: (now - since) / 1_000 },
  ];
  return found.filter((sample): sample is Sample => sample !== false && Number.isFinite(sample.value));
}

/** Gauges of each pod that has not ended. */
export function podGauges({ now, pods, nodes, nodeClaims }: Snapshot, planned: PlannedSince): readonly Sample[] {
  const nodeOf = new Map(nodes.map((node) => [node.metadata.name, node]));
  const providerIds = managedProviderIds(nodeClaims);
  return pods.flatMap((pod) => {
    const node = nodeOf.get(pod.spec.nodeName ?? "");
    return [stateOf(pod, node, node !== undefined && isManagedNode(node, providerIds)), ...waits(pod, now, planned)];
  });
}

/** One observation of how long a pod took. */
interface PodDuration {
  readonly name:
    | "pods_startup_duration_seconds"
    | "pods_bound_duration_seconds"
    | "pods_provisioning_startup_duration_seconds"
    | "pods_provisioning_bound_duration_seconds";
  readonly seconds: number;
}

/**
 * How long the pods took that were bound or became ready after `from` and not after `to` (ms). A pod that has restarted
 * is left out, because it was ready before. `planned` is as for podGauges.
 */
export function podDurations(pods: readonly Pod[], from: number, to: number, planned: PlannedSince): readonly PodDuration[] {
  const within = (time: number): boolean => time > from && time <= to;
  return pods.flatMap((pod) => {
    const created = fromRfc3339(pod.metadata.creationTimestamp);
    const since = planned.get(podUid(pod));
    const timeOf = (type: string): number => {
      const condition = conditionOf(pod.status?.conditions, type);
      return condition?.status === "True" ? fromRfc3339(condition.lastTransitionTime) : Number.NaN;
    };
    const hasRestarted = (pod.status?.containerStatuses ?? []).some(({ restartCount = 0 }) => restartCount > 0);
    const [bound, ready] = [timeOf("PodScheduled"), hasRestarted ? Number.NaN : timeOf("Ready")];
    const found: (PodDuration | false)[] = [
      within(bound) && { name: "pods_bound_duration_seconds", seconds: (bound - created) / 1_000 },
      within(bound) && since !== undefined && { name: "pods_provisioning_bound_duration_seconds", seconds: (bound - since) / 1_000 },
      within(ready) && { name: "pods_startup_duration_seconds", seconds: (ready - created) / 1_000 },
      within(ready) && since !== undefined && { name: "pods_provisioning_startup_duration_seconds", seconds: (ready - since) / 1_000 },
    ];
    return found
      .filter((one): one is PodDuration => one !== false && Number.isFinite(one.seconds))
      .map((one) => ({ ...one, seconds: Math.max(0, one.seconds) }));
  });
}
